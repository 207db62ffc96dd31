import type { Tree } from '@lezer/common'
import type { LRParser } from '@lezer/lr'
import { commentStyle, type Declaration, MAX_SYMBOLS, toSymbols } from '../../domain/code/symbols'
import { scheduler } from '../../domain/scheduler'
import type { CodeParser, SourceText } from '../../ports/code-parser'
import { rules as cppRules } from './cpp'
import { rules as goRules } from './go'
import { rules as javaRules } from './java'
import { dialectOf, rules as javascriptRules } from './javascript'
import { LINE_RULES } from './line-rules'
import { rules as pythonRules } from './python'
import { rules as rustRules } from './rust'
import type { Rules } from './tree'
import { parseInParts } from './tree'

/** Loads the grammar's tables with the first file of the language, so that a Worker starts without them. */
interface Grammar {
  readonly parser: (path: string) => Promise<LRParser>
  readonly rules: Rules
}

const cpp = async () => (await import('@lezer/cpp')).parser

const GRAMMARS: Readonly<Record<string, Grammar>> = {
  typescript: { parser: (path) => dialectOf('typescript', path), rules: javascriptRules },
  javascript: { parser: (path) => dialectOf('javascript', path), rules: javascriptRules },
  python: { parser: async () => (await import('@lezer/python')).parser, rules: pythonRules },
  rust: { parser: async () => (await import('@lezer/rust')).parser, rules: rustRules },
  go: { parser: async () => (await import('@lezer/go')).parser, rules: goRules },
  java: { parser: async () => (await import('@lezer/java')).parser, rules: javaRules },
  c: { parser: cpp, rules: cppRules },
  cpp: { parser: cpp, rules: cppRules },
}

/** Returns the declarations of the nodes that begin before `end`. */
function declarations(tree: Tree, text: string, rules: Rules, end: number): Declaration[] {
  const found: Declaration[] = []
  tree.iterate({
    enter(node) {
      if (found.length >= MAX_SYMBOLS || node.from >= end) return false
      const rule = Object.hasOwn(rules, node.name) ? rules[node.name] : undefined
      if (rule !== undefined) found.push(...rule(node.node, text))
      return true
    },
  })
  return found
}

/** Returns the declaration, moved by a number of characters. */
const moved = ({ from, to, opens, above, ...rest }: Declaration, by: number): Declaration => ({
  ...rest,
  ...{ from: from + by, to: to + by, above: above + by },
  opens: opens === null ? null : opens + by,
})

/** Creates a code parser: Lezer grammars (plain JavaScript), and line rules for languages without a grammar. */
export function createCodeParser(): CodeParser {
  return {
    async symbols({ path, language, text: stored }: SourceText) {
      // Remove a byte order mark: some grammars report it, and the first line with it, as an error.
      const text = stored.startsWith('\ufeff') ? stored.slice(1) : stored
      const style = commentStyle(language)
      const grammar = Object.hasOwn(GRAMMARS, language) ? GRAMMARS[language] : undefined
      if (grammar !== undefined) {
        const found: Declaration[] = []
        for await (const { tree, from, end } of parseInParts(await grammar.parser(path), text)) {
          const declared = declarations(tree, text.slice(from), grammar.rules, end)
          found.push(...declared.map((one) => moved(one, from)))
          await scheduler.yield()
        }
        return toSymbols(text, found, style)
      }
      const byLine = Object.hasOwn(LINE_RULES, language) ? LINE_RULES[language] : undefined
      return byLine === undefined ? [] : toSymbols(text, byLine(text), style)
    },
  }
}
