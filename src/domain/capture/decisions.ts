import { firstCodePoints, trim, WHITE_SPACE_RUN } from '../text'

/** Extracts what people and agents wrote, without pasted code, logs and tables (capture contract §3). */

/** Builds an expression from parts. */
export const form = (flags: string, ...parts: readonly string[]): RegExp => new RegExp(parts.join(''), flags)

const FENCE = /```[^\n]*\n([\s\S]*?)(?:```|$)/g
/** Lines printed by programs: shell prompts, times, log levels, stack traces, table borders. */
const PRINTED = [
  /^\s*(?:[$❯]|PS [A-Z]:|>{1,3}(?=\s|$))/,
  /^\s*at \S.*[:(]\d*/,
  /^\W*\d{1,4}[:./-]\d{1,2}[:./-]\d{1,2}/,
  /^\W*(?:INFO|DEBUG|WARN(?:ING)?|ERROR|TRACE|npm (?:ERR|error|warn)|Traceback)\b/,
  /^\s*[│┃|┏┗┡└┌─━=+*#-]{2,}/,
  /^\s*[{}[\]()<>;,]+\s*$/,
  /^\s*(?:[\w$.-]+\/){3,}\S*\s*$/,
]
/** A long line without a space, such as a path or an option. */
const LONG_WORD = /^\S{60,}$/

const oneLine = (text: string): string => trim(text.replace(WHITE_SPACE_RUN, ' '))

const isPrinted = (line: string): boolean => LONG_WORD.test(line) || PRINTED.some((sign) => sign.test(line))

const firstLine = (block: string): string =>
  firstCodePoints(block.split('\n').find((line) => trim(line) !== '') ?? '', 120)

/** The lines that a person wrote: only the first line of a code block, no log lines. */
export function ownLines(prompt: string): string[] {
  const lines = prompt.replace(FENCE, (_, block: string) => `\n\u0000${firstLine(block)}\n`).split('\n')
  return lines.filter((line) => trim(line) !== '' && !isPrinted(line))
}

const PROMPT = 300

/** A prompt on one line without pasted output; a long one is cut in the middle. */
export function shortPrompt(prompt: string): string {
  const own = oneLine(ownLines(prompt).join(' ').replaceAll('\u0000', ''))
  const text = own === '' ? oneLine(prompt) : own
  const characters = [...text]
  if (characters.length <= PROMPT) return text
  return `${characters.slice(0, 200).join('')} … ${characters.slice(-97).join('')}`
}

/** Openings without content. */
const OPENING =
  /^(?:perfect|great|excellent|sure|absolutely|awesome|done|certainly|of course|you're (?:absolutely )?right)[!.,:]*\s*/i
const ERROR_OF_CLIENT = /^API Error\b/

/** An answer on one line, without long code blocks and Markdown markers; empty for an error message of the client. */
export function plainAnswer(answer: string): string {
  if (ERROR_OF_CLIENT.test(answer)) return ''
  const prose = answer.replace(FENCE, (_, block: string) =>
    block.trim().split('\n').length <= 2 ? `\n${block}\n` : '\n',
  )
  const lines = prose.split('\n').map((line) => line.replace(/^[\s>]*(?:#{1,6}\s+|[-*+]\s+)?/, '').replaceAll('**', ''))
  const text = oneLine(lines.join(' '))
  return text.replace(OPENING, '') || text
}

/** Prompts without content, which only continue the work. */
const NOTHING_SAID = form(
  'iu',
  String.raw`^(?:hi|hello|hey|thanks?(?: you)?|continue|go on|next|what (?:next|now)|now what|huh|and|weiter|hallo|`,
  String.raw`danke|suite|continue[zr]?|merci|bonjour|sigue|continúa|hola|gracias|continuar?|続き|続けて|次|完了しました|继续|你好|`,
  String.raw`谢谢)[\s.!?。！？…]*$`,
)
const YES = form(
  'iu',
  String.raw`^(?:(?:yes|yep|yeah|ok(?:ay)?|sure|agreed|do it|do that|go ahead|sounds good|perfect|please do|ja|jo|`,
  String.raw`gerne|genau|mach das|einverstanden|oui|d'accord|vas-y|sí|si|vale|de acuerdo|hazlo|adelante|はい|お願いします|`,
  String.raw`それでお願いします|わかりました|いいですね|好的?|可以|是的|行|没问题)[\s,.!。！、]*(?:please|bitte|por favor)?[\s,.!。！、]*)+$`,
)

/** Whether a prompt only agrees to the proposal before it. */
export const isAgreement = (prompt: string): boolean =>
  prompt.length <= 80 && YES.test(trim(prompt).replaceAll('’', "'"))

/** Whether a prompt has content: it is not just a greeting, an agreement or a request to continue. */
export const saysSomething = (prompt: string): boolean => {
  const text = trim(prompt)
  return /[\p{L}\p{N}]/u.test(text) && !(text.length <= 80 && (NOTHING_SAID.test(text) || YES.test(text)))
}

/** Matches sentences in scripts with and without spaces. */
export const SENTENCE = /[^.!?。！？\n]+(?:[.!?]+(?=\s|$)|[.!?](?=\S)[^.!?。！？\n]*)*[.!?。！？]*/g

const sentencesOf = (text: string): string[] =>
  [...text.matchAll(SENTENCE)]
    .map(([sentence]) => oneLine(sentence))
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence))

/** Finds sentences in which a person wishes, agrees or sets a rule, in six languages (capture contract §3). */

const LONGEST = 300
const MAX_DECISIONS = 10
/** Longer sentences are lists or pasted text. */
const LONGEST_SENTENCE = 600

/** Patterns of decisions. Their subject is the person, so decisions of others and messages of programs do not match. */
const WISHES = [
  // English
  /\blet(?:'?s| us) (?!see\b|try\b|check\b|look\b|start\b|continue\b|move on\b|test\b|talk\b|discuss\b|think\b|say\b)/,
  form(
    '',
    String.raw`\b(?:we|i)(?:'ll| will| shall|'re going to|'m going to| are going to| am going to) (?:use|keep|drop|`,
    String.raw`remove|stay|switch|go with|move to|take|stick|avoid|not)\b`,
  ),
  /\b(?:we|i)(?:'ve| have)? (?:decided|chose|chosen|agreed|settled|went with|opted)\b/,
  /\b(?:we|i) (?:should|must|need to) (?:never|always|not|only|use|keep|stay|switch|avoid|drop)\b/,
  /\b(?:we|i)(?:'d| would)? (?:prefer|rather|(?:don'?t|do not|really) like|like all|like every)\b/,
  /\bi(?:'d| would)? (?:do not|don'?t) want\b/,
  /\b(?:we|i) want to (?:keep|use|avoid|have|stay|drop|switch|support|implement|move)\b/,
  /\b(?:go|going) with (?!me\b|it\?)/,
  form(
    '',
    String.raw`^(?:ok(?:ay)?,? |so,? |and |please |no,? |well,? )*(?:from now on|always|never|do not|don'?t (?!worry\b|`,
    String.raw`know\b|think\b|understand\b|forget\b)|no longer|stop using|decision:|decided:)`,
  ),
  // German
  /\b(?:lass(?:t)? uns|nehmen wir|machen wir|verwenden wir|bleiben wir|dabei bleiben|ab (?:jetzt|sofort)|künftig)\b/,
  form(
    '',
    String.raw`\b(?:wir|ich) (?:nehmen?|verwenden?|benutzen?|nutzen?|bleiben? bei|setzen? auf|bevorzugen?|`,
    String.raw`entscheiden? (?:uns|mich)|haben? (?:uns|mich) .{0,60}entschieden|wollen|möchten?|will (?!wissen|sehen))`,
  ),
  /^(?:ok,? |bitte |und )*(?:immer|nie(?:mals)?|kein(?:e|en)?|nicht) /,
  // French
  /\b(?:utilisons|prenons|gardons|passons à|restons|choisissons|désormais|dorénavant|à partir de maintenant)\b/,
  form(
    '',
    String.raw`\b(?:on|nous|je) (?:ne )?(?:utilise|utilisera|utiliserons|prend|prendra|garde|gardera|choisit|choisis|`,
    String.raw`préfère|préférons|décide|veut|veux|voulons|va utiliser|vais utiliser|allons utiliser|a décidé|`,
    String.raw`avons décidé|ai décidé)\b`,
  ),
  /^(?:ok,? |s'il te plaît,? )*(?:toujours|jamais|n'utilise)/,
  // Spanish
  form(
    '',
    String.raw`\b(?:usemos|usaremos|vamos a usar|nos quedamos con|hemos decidido|decidimos|he decidido|prefiero|`,
    String.raw`preferimos|queremos|a partir de ahora|mejor usamos)\b`,
  ),
  /\b(?:no )?quiero (?!saber|ver|entender|que me)/,
  /^(?:ok,? |por favor,? )*(?:siempre|nunca|no uses)\b/,
  // Japanese
  /(?:使用します|使います|にします|やめます|(?:し|使い|やめ)ましょう|やりたい|してほしい|して欲しい|しないでください|決めました|採用します|今後は|良いんじゃないかな)/,
  // Chinese
  /(?:(?:我们|咱们|我)(?:就|还是|决定|要|想|希望|应该|必须|选择?|改)?(?:决定|用|采用|选择|改用|保留|不用|放弃|使用)|从现在(?:起|开始)|以后(?:都|不)|就用|不要再|必须(?:用|使用))/,
]

/** Patterns of questions, doubts, conditions, retractions and quotations. */
const NO_WISH = [
  /[?？]\s*$|(?:吗|呢|ですか|でしょうか|ますか)[。.]?$/,
  form(
    '',
    String.raw`^(?:how|what|why|which|when|where|who|can|could|would|should|do|does|did|is|are|wie|was|warum|welche|`,
    String.raw`kannst|soll|comment|pourquoi|est-ce|qué|cómo|por qué|怎么|为什么)\b(?! not\b)`,
  ),
  form(
    '',
    String.raw`\b(?:no wait|wait,? no|never ?mind|scratch that|forget (?:it|that)|just kidding|doch nicht|vergiss es|`,
    String.raw`quatsch|laisse tomber|finalement non|olvídalo|mejor no)\b|やっぱり(?:やめ|なし)|算了`,
  ),
  /\b(?:maybe|perhaps|might|if we|if i|what if|not sure|vielleicht|falls wir|peut-être|si on|quizás|si usamos)\b|かもしれ|もしかし|也许|如果/,
  form(
    '',
    String.raw`\b(?:they|he|she|netflix|google|the (?:docs|team at|article|linter|error)|someone|people) (?:said|say|`,
    String.raw`says|decided|chose|wrote|recommends?|suggests?)\b`,
  ),
  /\b(?:error|warning|exception|traceback)\b.*:/,
  /^\s*(?:option|variante|alternative|opción) ?[\da-z]\b|^\s*\d+[.)]/,
]
/** A sentence that retracts the one before it. */
const TAKES_BACK = form(
  '',
  String.raw`^(?:no,? wait|wait,? no|never ?mind|scratch that|forget (?:it|that)|just kidding|actually,? no|`,
  String.raw`doch nicht|vergiss es|olvídalo|laisse tomber|finalement non|いや、やっぱり|算了)`,
)

/** Removes long quotations, which are the words of others. */
const withoutQuotes = (text: string): string =>
  text.replace(/"[^"\n]{12,}"|“[^”\n]{12,}”|「[^」\n]{6,}」|«[^»\n]{12,}»/g, '""')

const isWish = (sentence: string): boolean => {
  if (sentence.length > LONGEST_SENTENCE) return false
  const lower = withoutQuotes(sentence).toLowerCase()
  return WISHES.some((sign) => sign.test(lower)) && !NO_WISH.some((sign) => sign.test(lower))
}

/** The sentences of a prompt in which the person decides something, the first ten. */
export function decisionsIn(prompt: string): string[] {
  const lines = ownLines(prompt.replaceAll('’', "'")).filter(
    (line) => !line.startsWith('\u0000') && !/^\s*>/.test(line),
  )
  const sentences = lines.flatMap((line) => sentencesOf(line.replace(/^[-*#>\s]+/, '')))
  const found = sentences.filter(
    (sentence, i) => isWish(sentence) && !TAKES_BACK.test((sentences[i + 1] ?? '').toLowerCase()),
  )
  return [...new Set(found.map((sentence) => firstCodePoints(trim(sentence), LONGEST)))].slice(0, MAX_DECISIONS)
}

/** Proposals at the end of an answer, which the next prompt can accept. */
const PROPOSES = form(
  'i',
  String.raw`\b(?:i (?:would )?(?:recommend|suggest|propose)|my recommendation|(?:shall|should) (?:i|we) (?:use|keep|`,
  String.raw`switch|replace|remove|drop|adopt|move)|(?:do you want|would you like) (?:me|us) to (?:use|keep|switch|`,
  String.raw`replace|remove|drop|adopt|move)|ich (?:empfehle|schlage)|soll(?:en)? (?:ich|wir) .{0,80}(?:verwenden|`,
  String.raw`nehmen|ersetzen|umstellen|behalten)|je (?:recommande|propose)|recomiendo|propongo)\b|提案します|おすすめします|我建议|`,
  String.raw`我推荐`,
)

export function proposalIn(answer: string): string | null {
  const last = sentencesOf(answer.slice(-600).replaceAll('**', '')).findLast((sentence) => PROPOSES.test(sentence))
  return last === undefined ? null : firstCodePoints(last, LONGEST)
}

/** Patterns of measurements, and of attempts that did not help. */
const FINDINGS = [
  form(
    '',
    String.raw`\b(?:did(?: not|n'?t) (?:help|work|fix|change|solve|improve)|made (?:it|things|no) (?:worse|slower|`,
    String.raw`difference)|no (?:effect|improvement|difference|speed-?up)|does(?: not|n'?t) help|slower than|`,
    String.raw`faster than|dead end|still (?:fails|failing|the same))\b`,
  ),
  form(
    '',
    String.raw`\b(?:hat nicht(?:s)? (?:geholfen|gebracht)|half nicht|bringt nichts|keine verbesserung|kein unterschied|`,
    String.raw`sackgasse|langsamer als|schneller als)\b`,
  ),
  /\b(?:n'a (?:pas|rien) (?:aidé|changé|marché|fonctionné)|aucun effet|sans effet|plus lent que|plus rapide que)\b/,
  /\b(?:no (?:ayudó|funcionó|sirvió|mejoró)|sin efecto|más lento que|más rápido que)\b/,
  /(?:効果が(?:ない|ありません)|効果はな|改善しません|うまくいきません|遅くな|速くな|できないようです)/,
  /(?:没有(?:帮助|效果|用|改善)|不起作用|更慢|更快)/,
  form(
    '',
    String.raw`\d[\d.,]*\s*(?:ms|s|sec(?:onds)?|min(?:utes)?|mb|gb|kb|kib|mib|%|req\/s|qps|sekunden|秒|`,
    String.raw`毫秒)\b.{0,60}\b(?:to|vs\.?|versus|instead of|down from|statt|gegen|auf|contre|au lieu de|frente a|`,
    String.raw`en lugar de)\b.{0,40}\d`,
  ),
  /\bfrom \d[\d.,]*\s*\S{0,10} to \d[\d.,]*\s*(?:ms|s|sec|mb|gb|kb|%)/,
  /\d[\d.,]*\s*(?:秒|ms|毫秒).{0,20}(?:から|→|降到|变成).{0,10}\d/,
]
const MAX_FINDINGS = 8
const FINDING = 240

/** The sentences that report a measurement or a failed attempt, the first eight. */
export function findingsIn(text: string): string[] {
  const found = sentencesOf(text.replaceAll('’', "'").replaceAll('**', '')).filter((sentence) => {
    const lower = sentence.toLowerCase()
    return lower.length <= LONGEST_SENTENCE && FINDINGS.some((sign) => sign.test(lower)) && !/[?？]\s*$/.test(lower)
  })
  return [...new Set(found.map((sentence) => firstCodePoints(sentence.replace(/^[-*#>\s]+/, ''), FINDING)))].slice(
    0,
    MAX_FINDINGS,
  )
}
