import { join, relative } from 'node:path'
import { isSafePattern } from 'redos-detector'
import { isNewExpression, isRegularExpressionLiteral, type Node, type SourceFile } from 'typescript/unstable/ast'
import { describe, expect, it } from 'vitest'
import { linearWalks } from '../contracts/linear-walks'
import { ROOT } from '../support/build'
import { sourceFiles } from '../support/sources'
import { readTrees } from '../support/typescript-trees'

/**
 * Every regular expression that can run on stored text, an argument or a query takes linear time (platform contract
 * §6). Expressions of `http` and the command line read headers, which are short.
 */
const SRC = join(ROOT, 'src')
const ROOMS = /^(domain|ports|services|tools|adapters)\//

/**
 * Expressions that run on short text only, or that are linear although the detector does not see it, each with its
 * reason.
 */
const KNOWN: Readonly<Record<string, string>> = {
  '/^(?:[^\\s@/:\\\\]+@[a-z0-9._-]+|[a-z0-9-]+(?:\\.[a-z0-9-]+)+):(?!\\d+\\/)[^\\s:]*\\S$/i':
    'a name of a project, of at most 1,000 characters',
  '/^(?:[^\\s@/]*@)?([a-z0-9-]+(?:\\.[a-z0-9-]+)+)(?::\\d{1,5})?\\/([^?#]+)/i':
    'a name of a project, of at most 1,000 characters',
  '/^#{1,6}[ \\t]+([^\\\\`*_[\\]<>&#\\n]*)$/': 'the first 1,000 characters of a heading',
  '/^---[ \\t]*\\n(?:[\\s\\S]*?\\n)??---[ \\t]*(?:\\n|$)/':
    'linear: it begins at the beginning, and each line is tried once',
  '/\\n\\s*\\n/': 'migrations, which are our own files',
  '/\\/+$/': 'URLs of the configuration',
  '/model .*not found|try pulling/i': 'the answer of a model server, cut to a few hundred characters',
  '/qwen3-embedding|e5-.*instruct/': 'the name of a model in the configuration',
  '/context length|context size|maximum (input|context)|too (long|large)|less than \\d+ tokens/i':
    'linear: each digit belongs to one attempt; and the answer of a model server is cut',
  '/\\n[^\\S\\n]*\\n/g': 'linear: an attempt ends at the next line end, where the next one begins',
  '/^(?:\\$[a-z_]\\w*|%\\w+%|#[0-9a-f]{3,8}|[#/][a-z_-]+|\\/[\\w-]+\\.[a-z]{1,5})$/i':
    'the first 256 characters of a value',
  '/^(?:[\\w-]*<[^<>\\n]*>|\\{[^{}\\n]*\\}|#\\{|\\([^()\\n]*\\)|[A-Za-z_$][\\w$.:]*\\((?:[^\\n]*\\)|["\'`\\s]|$))/':
    'the first 256 characters of a value',
  '/(?:\\\\[nrt]|[\\s"\'+\\\\]){0,40}(?:[A-Za-z0-9+/=]{16}|[A-Z][A-Za-z-]{1,20}: )/y':
    'linear: one attempt at one place, of at most eighty characters',
  '/\\\\{0,3}["\'`]?[ \\t]{0,5},?\\s{0,20}\\\\{0,3}["\'`]?(?:value|content|default)\\\\{0,3}["\'`]?[ \\t]{0,5}[:=][ \\t]{0,5}/iy':
    'linear: one attempt at one place, which ends at a bound or where its class does',
  '/(?:["\'][^<>\\n]{0,60})?>(?=[^<>\\n]{1,256}<\\/)[ \\t]{0,5}/y':
    'linear: one attempt at one place, which ends at a bound or where its class does',
  '/[ \\t]{0,3}(?:(?:for|of|to|on|in)[ \\t]\\S{1,40}[ \\t])?(?:is|was|are|=|is:|will be|should be|\\|)[ \\t]{1,5}/iy':
    'linear: one attempt at one place, which ends at a bound or where its class does',
  '/<[\\w:-]{1,40}[ \\t][^<>]{0,60}$/': 'the 80 characters before a place, or a name',
  '/(?:^|\\n)[ \\t]*(?:ENV|ARG|setx|setenv|set(?:[ \\t]+-\\w+)+)[ \\t]+$/':
    'the 80 characters before a place, or a name',
  '/["\']?([^=;\\s"\'`]{1,64})=([^;\\s"\'`\\p{Cc}]*)(?:;[ \\t]{0,5})?/uy':
    'linear: one attempt at one place, which ends at a bound or where its class does',
  '/([ \\t]*)([^\\n]*)(?:\\n|$)/y': 'linear: one attempt at one place, which ends at a bound or where its class does',
  '/^(?:.{0,4}(?:\\*{3,}|\\.{3,}|…+).{0,4}|(?:[a-z]{1,8}[-_]){0,3}x[-_x]*)$|^\\[redacted:/i':
    'the first 256 characters of a value',
  '/\\b(?:login|user)[ \\t]{1,9}\\S{1,60}\\s{1,9}$/': 'the 80 characters before a place, or a name',
  '/(?<![a-z0-9])[a-f0-9]{32}$/': 'the 80 characters before a place, or a name',
  '/(?<!\\w)[a-f0-9]{36}$/': 'the 80 characters before a place, or a name',
  '/(?<![\\w+/])[\\w+/]{32,76}$/': 'the 80 characters before a place, or a name',
  '/(?<![A-Za-z0-9])(?=[A-Za-z]*\\d|[A-Za-z]*[A-Z]{2}[a-z]|[A-Za-z]*[a-z][A-Z][a-z][A-Z])[A-Za-z0-9]{16,}/g':
    'linear: an attempt begins at the beginning of a run only, and reads it a few times',
  '/(?<![\\w/+=.-])[A-Za-z][A-Za-z0-9]{1,15}(?:[_-][A-Za-z0-9]{1,8}){0,3}$/':
    'the 80 characters before a place, or a name',
  '/(?:secret|password|passwd|passphrase|passcode|passwort|pwd|credential|token|_key|accountkey|sharedaccesskey)\\d*$/i':
    'the 80 characters before a place, or a name',
  '/(?:^|[^A-Za-z])pass\\d*$|[a-z]Pass\\d*$/i': 'the 80 characters before a place, or a name',
  '/(?:db|user|admin|root|smtp|mail|ftp|ssh|sql|redis|pg|proxy|become|sudo|login|key|cert|store|vault|mongo|mq|bind|account)[-_.]?pass\\d*$/i':
    'the 80 characters before a place, or a name',
  '/(?:passw(?:or)?d|passphrase|passcode|passwort|pwd)|secret\\d*$|(?:api|access|auth|private|signing|encryption|master)[-_.]?key\\d*$/i':
    'the 80 characters before a place, or a name',
  '/"(?:[^"\\\\\\u0000-\\u001f]|\\\\(?:["\\\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y':
    'linear: one attempt at one place, whose two parts begin differently',
  '/["\'`]?\\]?[ \\t]{0,5}[!=]==?[ \\t]{0,5}(?=["\'`])/y':
    'linear: one attempt at one place, which ends at a bound or where its class does',
  '/\\\\{0,3}["\'][ \\t]{0,5},[ \\t]{0,5}(?:["\'](?=["\']))?(?=\\\\{0,3}["\'])/y':
    'linear: one attempt at one place, which ends at a bound or where its class does',
  '/\\(\\s{0,5}["\'][^"\'\\n]{1,80}["\'],\\s{0,5}(?=["\'])/y':
    'linear: one attempt at one place, which ends at a bound or where its class does',
  '/^[0-]+$|^[~^>=<v]*\\d{1,5}(?:\\.\\d{1,5}){1,3}(?:[-+][\\w.]{1,40})?$/': 'the first 256 characters of a value',
  '/[a-z]Key\\d*$|[-.](?:key|KEY|Key)\\d*$/': 'the 80 characters before a place, or a name',
  '/\\bi ?g ?n ?o ?r ?e {1,4}(?:all |any )?(?:previous|prior|above) {1,4}instructions/i':
    'linear: an attempt begins at a fixed mark and reads at most 200 characters, over 40,000 at most',
  '/(?:[Ии]гнорируй|[Зз]абудь)[^.!?\\n]{0,30}(?:инструкци|указани)/u':
    'linear: an attempt begins at a fixed mark and reads at most 200 characters, over 40,000 at most',
  '/忽略[^。\\n]{0,12}(?:指令|指示|提示)|(?:指示|命令)を(?:すべて)?無視/u':
    'linear: an attempt begins at a fixed mark and reads at most 200 characters, over 40,000 at most',
  '/\\{\\s{0,9}["\'](?:name|tool|function)["\']\\s{0,3}:\\s{0,3}["\'][\\w.-]{1,60}["\']\\s{0,3},\\s{0,9}["\'](?:arguments|parameters)["\']/':
    'linear: an attempt begins at a fixed mark and reads at most 200 characters, over 40,000 at most',
  '/<!--[^>]{0,200}\\b(?:ignore|instructions?|assistant|agent|prompt)\\b/i':
    'linear: an attempt begins at a fixed mark and reads at most 200 characters, over 40,000 at most',
  '/style ?= ?["\'][^"\'<>\\n]{0,80}(?:font-size: ?0|display: ?none|color: ?white|visibility: ?hidden|opacity: ?0\\b)/i':
    'linear: an attempt begins at a fixed mark and reads at most 200 characters, over 40,000 at most',
  '/[?？]\\s*$|(?:吗|呢|ですか|でしょうか|ますか)[。.]?$/':
    'a sentence of at most 600 characters, its white space collapsed',
  '/\\b(?:error|warning|exception|traceback)\\b.*:/': 'a sentence of at most 600 characters, its white space collapsed',
  '/^\\s*(?:option|variante|alternative|opción) ?[\\da-z]\\b|^\\s*\\d+[.)]/':
    'a sentence of at most 600 characters, its white space collapsed',
  '/"[^"\\n]{12,}"|“[^”\\n]{12,}”|「[^」\\n]{6,}」|«[^»\\n]{12,}»/g':
    'a sentence of at most 600 characters, its white space collapsed',
  '/\\bfrom \\d[\\d.,]*\\s*\\S{0,10} to \\d[\\d.,]*\\s*(?:ms|s|sec|mb|gb|kb|%)/':
    'a sentence of at most 600 characters, its white space collapsed',
  '/\\d[\\d.,]*\\s*(?:秒|ms|毫秒).{0,20}(?:から|→|降到|变成).{0,10}\\d/':
    'a sentence of at most 600 characters, its white space collapsed',
  '/[?？]\\s*$/': 'a sentence of at most 600 characters, its white space collapsed',
  '/```[^\\n]*\\n([\\s\\S]*?)(?:```|$)/g': 'a text of an event, of at most 4,000 characters',
  '/^\\s*(?:[\\w$.-]+\\/){3,}\\S*\\s*$/': 'a text of an event, of at most 4,000 characters',
}

/** Expressions built from parts where they are declared, each with the reason why it is linear. */
const BUILT: Readonly<Record<string, string>> = {
  'adapters/d1/errors.ts': 'fixed words, over a message of the database',
  'domain/capture/decisions.ts':
    'fixed words with at most 80 characters between them, over a sentence of at most 600 characters',
  'domain/pack/markdown.ts': 'tried at the beginning of a line only, by marks that begin differently',
  'domain/reading/headings.ts': 'each mark of a line is one of three that begin differently',
  'domain/reading/literal.ts': 'exact characters, over slices whose length the pattern bounds',
  'domain/search/analysis.ts':
    'one class, then another one repeated that holds it; fixed words at the end of a word of at most 500 characters',
  'domain/search/fold.ts': 'one class repeated',
  'domain/secrets/assigned-secrets.ts': 'one attempt at one place, of at most 128 characters',
  'domain/secrets/redact.ts': 'fixed words, and options of a command of at most 400 characters',
  'domain/secrets/token-forms.ts': 'fixed prefixes; one ends in blanks',
  'domain/text.ts': 'one class repeated',
  'domain/trust/agent-directed.ts':
    'fixed words with at most 60 characters between them, over 40,000 characters at most',
}

interface Found {
  readonly file: string
  readonly text: string
}

function expressionsOf(source: SourceFile): { file: string; literals: Found[]; built: number } {
  const file = relative(SRC, source.fileName)
  const literals: Found[] = []
  let built = 0
  const visit = (node: Node): void => {
    if (isRegularExpressionLiteral(node)) literals.push({ file, text: node.text })
    if (isNewExpression(node) && node.expression.getText() === 'RegExp') built++
    node.forEachChild(visit)
  }
  visit(source)
  return { file, literals, built }
}

/** Escapes, classes and starts of groups, in which repetition characters have other meanings. */
const LITERAL_MARKS = /\\p\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]|\(\?(?:[:=!]|<[=!]|<\w+>)/gi

/**
 * Whether an expression has no repetition and hardly any optional part, so that each attempt reads at most its length
 * and no detector is needed.
 */
function repeatsNothing(source: string): boolean {
  const marks = source.replace(LITERAL_MARKS, '')
  return !/[*+{]/.test(marks) && (marks.match(/\?/g)?.length ?? 0) <= 3
}

function isLinear(literal: string): boolean {
  const end = literal.lastIndexOf('/')
  const flags = literal.slice(end + 1)
  if (repeatsNothing(literal.slice(1, end))) return true
  return isSafePattern(literal.slice(1, end), {
    caseInsensitive: flags.includes('i'),
    dotAll: flags.includes('s'),
    multiLine: flags.includes('m'),
    unicode: flags.includes('u'),
  }).safe
}

describe('regular expressions', () => {
  const all = readTrees(
    sourceFiles(SRC).filter((file) => ROOMS.test(relative(SRC, file))),
    expressionsOf,
  )
  const literals = all.flatMap((one) => one.literals)

  it('are linear in their input, or run on short text only', () => {
    const judged = new Map<string, boolean>()
    const isJudgedLinear = (text: string): boolean => {
      const linear = judged.get(text) ?? isLinear(text)
      judged.set(text, linear)
      return linear
    }
    const slow = literals.filter(({ text }) => !(text in KNOWN) && !isJudgedLinear(text))
    expect(slow).toEqual([])
  })

  it('repeat nothing by reference, and are built at run time in the named files only', () => {
    expect(literals.filter(({ text }) => /\\[1-9]/.test(text))).toEqual([])
    expect(all.filter(({ built }) => built > 0).map(({ file }) => file)).toEqual(Object.keys(BUILT))
  })

  it('are distinguished by the test itself', () => {
    expect(['a|b\\+[*+]', '(?:a|\\p{L})?b', '(?<!a)b(?=c)'].map(repeatsNothing)).toEqual([true, true, true])
    expect(['a+', '(?:a|b)*', '[a]{2}', '\\\\+', 'a?b?c?d?'].map(repeatsNothing)).toEqual([
      false,
      false,
      false,
      false,
      false,
    ])
    expect([isLinear('/=+$/'), isLinear('/(?:[\\w.]+)?(?:[/][\\w.]+)+\\.\\w{1,8}\\b/g'), isLinear('/^=+$/')]).toEqual([
      false,
      false,
      true,
    ])
  })

  it('leave no unused exception', () => {
    const present = new Set(literals.map(({ text }) => text))
    expect(Object.keys(KNOWN).filter((text) => !present.has(text))).toEqual([])
  })
})

// Longer texts: test/nightly/node/linear-walks.
linearWalks(2_000)
