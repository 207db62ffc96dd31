/**
 * Detects texts that address an agent: instructions to ignore its own, tool calls, and characters that people do not
 * see. A memory with such a text is stored with a warning, and hooks leave it out until a person approves it (capture
 * contract §3).
 */

/** The ways in which a text addresses an agent. */
export type Address = 'instructions' | 'tool call' | 'hidden text'

/** Characters of a text that are checked; longer texts are checked at both ends. */
const LONGEST_CHECKED = 20_000

/** A group that matches any of the words. */
const any = (words: string): string => `(?:${words.replaceAll(' ', '|').replaceAll('_', '[ -]')})`

const DROP = any(
  'ignore ignoring disregard disregarding forget override overrule bypass discard do_not_follow do_not_obey stop_following',
)
const EARLIER = any(
  'previous prior above earlier preceding existing original initial system your all any other past old',
)
const ORDERS = any(
  'instruction instructions prompt prompts directions directives guidelines commands orders messages context constraints restrictions ' +
    'programming training rules_you rules_above safety_rules safety_measures what_you_were_told',
)
const AGENT = any('ai llm language_model model assistant agent claude chatgpt gpt copilot cursor gemini chatbot')
const SHOW = any(
  'reveal print output repeat show tell display leak expose disclose share return write paste put give what list summarize translate',
)
const OWN_PROMPT = any(
  'system_prompt system_message initial_prompt your_prompt your_instructions your_initial your_hidden your_guidelines your_configuration ' +
    'hidden_instructions hidden_prompt hidden_reasoning previous_instructions words_above instructions_above prompt_above',
)
const SEND = any('send email forward post upload exfiltrate transmit leak include copy pass attach')
const SECRETS = any(
  'credentials password passwords secrets api_key api_keys environment_variables ssh_keys private_key private_keys conversation ' +
    'chat_history id_rsa .env .aws .ssh every_email all_emails',
).replaceAll('.', '\\.')

/** Patterns that are built from the lists above: within one sentence, in this order. */
const SENTENCES: readonly RegExp[] = [
  new RegExp(`\\b${DROP}\\b[^.!?\\n]{0,40}\\b${EARLIER}\\b[^.!?\\n]{0,30}\\b${ORDERS}`, 'i'),
  new RegExp(`\\b${DROP}\\b (?:everything|all|anything) (?:that|you|i|above|before|else|of the above)\\b`, 'i'),
  new RegExp(`\\b${SHOW}\\b[^.!?\\n]{0,60}\\b${OWN_PROMPT}\\b`, 'i'),
  new RegExp(
    `\\b${any("do_not don't never without")} ${any('tell telling inform informing mention mentioning notify notifying warn asking')}\\b` +
      `[^.!?\\n]{0,30}\\b${any('user human operator person')}\\b`,
    'i',
  ),
  new RegExp(
    `\\b${AGENT}s?\\b[^.!?\\n]{0,30}\\b${any('must should shall has_to have_to')} (?:now |first |immediately |always |also )?` +
      `${any('ignore disregard forget send email forward upload exfiltrate execute transfer reveal obey')}\\b`,
    'i',
  ),
  new RegExp(
    `\\b${any('attention dear hey note_to message_to notice_to instructions_for instructions_to')}:? (?:an |the |all |any )?` +
      `(?:ai )?${AGENT}s?\\b[^\\n]{0,12}[,:!]`,
    'i',
  ),
  new RegExp(
    `\\b${any('pretend act behave simulate imagine roleplay')}\\b[^.!?\\n]{0,30}` +
      `\\b${any('you_are you_have_no dan jailbroken unrestricted unfiltered developer_mode')}\\b`,
    'i',
  ),
  new RegExp(`\\b${SEND}\\b[^.!?\\n]{0,60}${SECRETS}\\b`, 'i'),
  new RegExp(`${SECRETS}\\b[^.!?\\n]{0,40}\\b(?:and|then) (?:silently |immediately |also )?${SEND}\\b`, 'i'),
  new RegExp(
    `\\b(?:${any('new updated')} (?:system instructions|system prompt|directives)|${any('real actual hidden secret')} ` +
      `${any('instructions directives orders')})\\b[^.!?\\n]{0,40}[:!]`,
    'i',
  ),
  new RegExp(
    `\\b${any('ignora ignoriere ignorez ignore oublie oubliez olvida vergiss esqueça dimentica missachte')}\\b[^.!?\\n]{0,40}` +
      `\\b(?:instruc|anweisung|istruzioni|consignes|befehle)`,
    'i',
  ),
]

const PATTERNS: readonly (readonly [address: Address, pattern: RegExp])[] = [
  ...SENTENCES.map((pattern) => ['instructions', pattern] as const),
  ['instructions', /\bfrom now on,? you\b/i],
  [
    'instructions',
    /\b(?:jailbreak|do anything now|you are now (?:in |an? |the )?(?:dan|developer|unrestricted|evil|pirate|jailbroken))\b/i,
  ],
  [
    'instructions',
    /\b(?:developer mode (?:enabled|on|output)|stop being an ai|you have no (?:restrictions|rules|limits|filters))\b/i,
  ],
  ['instructions', /\bi ?g ?n ?o ?r ?e {1,4}(?:all |any )?(?:previous|prior|above) {1,4}instructions/i],
  ['instructions', /(?:[Ии]гнорируй|[Зз]абудь)[^.!?\n]{0,30}(?:инструкци|указани)/u],
  ['instructions', /忽略[^。\n]{0,12}(?:指令|指示|提示)|(?:指示|命令)を(?:すべて)?無視/u],
  [
    'tool call',
    /<\/?(?:system|assistant|tool_call|tool_use|tool_result|function_calls?|invoke|important|system-reminder|system_prompt)[\s>]/i,
  ],
  [
    'tool call',
    /<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id|eot_id|channel)\|>|\[\/?INST\]|<<\/?SYS>>/i,
  ],
  ['tool call', /["'](?:tool_calls|function_call|tool_use)["']\s{0,3}:/],
  [
    'tool call',
    /\{\s{0,9}["'](?:name|tool|function)["']\s{0,3}:\s{0,3}["'][\w.-]{1,60}["']\s{0,3},\s{0,9}["'](?:arguments|parameters)["']/,
  ],
  ['tool call', /(?:^|\n) {0,3}(?:system|assistant) {0,2}: {0,3}\S/i],
  // Characters of the tag block, runs of variation selectors or zero-width characters, and direction changes.
  [
    'hidden text',
    /[\u{e0001}-\u{e007f}]{2}|[\u{e0100}-\u{e01ef}\ufe00-\ufe0f]{4}|[\u200b\u2060\u2062-\u2064\ufeff]{3}|[\u202a-\u202e\u2066-\u2069]/u,
  ],
  ['hidden text', /<!--[^>]{0,200}\b(?:ignore|instructions?|assistant|agent|prompt)\b/i],
  [
    'hidden text',
    /style ?= ?["'][^"'<>\n]{0,80}(?:font-size: ?0|display: ?none|color: ?white|visibility: ?hidden|opacity: ?0\b)/i,
  ],
]

/** The text on one line, without invisible characters and in one width, as a model reads it. */
const asRead = (text: string): string =>
  text
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll(/\s+/g, ' ')

/**
 * How a text addresses an agent; empty for an ordinary text. Rules such as "always run the linter before you commit" are ordinary.
 *
 * @param text a stored text or a title
 * @param title of the text; a sentence may begin in it
 */
export function addressesIn(text: string, title: string | null = null): readonly Address[] {
  const whole = title === null ? text : `${title}\n${text}`
  const checked =
    whole.length <= 2 * LONGEST_CHECKED ? whole : `${whole.slice(0, LONGEST_CHECKED)}\n${whole.slice(-LONGEST_CHECKED)}`
  const read = asRead(checked)
  return [
    ...new Set(
      PATTERNS.flatMap(([address, pattern]) => (pattern.test(checked) || pattern.test(read) ? [address] : [])),
    ),
  ]
}

/** Whether the text or the title of an entry addresses an agent. */
export const addressesAgent = ({ text, title }: { readonly text: string; readonly title: string | null }): boolean =>
  addressesIn(text, title).length > 0

/** The warning about texts that look like they hold secrets (fabric contract §7). */
export const secretWarning = (kinds: readonly string[]): string =>
  `content holds what looks like a secret: ${kinds.join(', ')}`

/** The warning about texts that address an agent; hooks leave them out (capture contract §3). */
export const addressWarning = (addresses: readonly Address[]): string =>
  `content addresses an agent (${addresses.join(', ')}): hooks leave it out until a person approves it in the dashboard`
