import { firstCodePoints, trim, WHITE_SPACE_RUN } from '../text'

/** The words of people and agents without what they pasted: code, logs, tables (capture contract §3). */

/** An expression that is written in parts. */
export const form = (flags: string, ...parts: readonly string[]): RegExp => new RegExp(parts.join(''), flags)

const FENCE = /```[^\n]*\n([\s\S]*?)(?:```|$)/g
/** Lines that a program has printed: prompts of shells, times, levels, stack traces, frames of tables. */
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

/** The lines that a person wrote: of a fenced block its first line alone, of logs nothing. */
export function ownLines(prompt: string): string[] {
  const lines = prompt.replace(FENCE, (_, block: string) => `\n\u0000${firstLine(block)}\n`).split('\n')
  return lines.filter((line) => trim(line) !== '' && !isPrinted(line))
}

const PROMPT = 300

/** A prompt without pasted output, on one line; of a longer one the beginning and the end. */
export function shortPrompt(prompt: string): string {
  const own = oneLine(ownLines(prompt).join(' ').replaceAll('\u0000', ''))
  const text = own === '' ? oneLine(prompt) : own
  const characters = [...text]
  if (characters.length <= PROMPT) return text
  return `${characters.slice(0, 200).join('')} … ${characters.slice(-97).join('')}`
}

/** Openings that say nothing of the work. */
const OPENING =
  /^(?:perfect|great|excellent|sure|absolutely|awesome|done|certainly|of course|you're (?:absolutely )?right)[!.,:]*\s*/i
const ERROR_OF_CLIENT = /^API Error\b/

/** An answer without longer code and marks of Markdown, on one line; empty where the client only reported a failure of its own. */
export function plainAnswer(answer: string): string {
  if (ERROR_OF_CLIENT.test(answer)) return ''
  const prose = answer.replace(FENCE, (_, block: string) =>
    block.trim().split('\n').length <= 2 ? `\n${block}\n` : '\n',
  )
  const lines = prose.split('\n').map((line) => line.replace(/^[\s>]*(?:#{1,6}\s+|[-*+]\s+)?/, '').replaceAll('**', ''))
  const text = oneLine(lines.join(' '))
  return text.replace(OPENING, '') || text
}

/** Prompts that only let the agent go on. */
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

/** Whether a prompt agrees to what was proposed before it, and says nothing else. */
export const isAgreement = (prompt: string): boolean =>
  prompt.length <= 80 && YES.test(trim(prompt).replaceAll('’', "'"))

/** Whether a prompt says anything: not a greeting, a yes or a wish to go on. */
export const saysSomething = (prompt: string): boolean => {
  const text = trim(prompt)
  return /[\p{L}\p{N}]/u.test(text) && !(text.length <= 80 && (NOTHING_SAID.test(text) || YES.test(text)))
}

/** Sentences of a text in scripts with and without spaces. */
export const SENTENCE = /[^.!?。！？\n]+(?:[.!?]+(?=\s|$)|[.!?](?=\S)[^.!?。！？\n]*)*[.!?。！？]*/g

export const sentencesOf = (text: string): string[] =>
  [...text.matchAll(SENTENCE)]
    .map(([sentence]) => oneLine(sentence))
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence))
