// Finds phrases in comments, strings and Markdown that a reader has to read twice. CONTRIBUTING.md lists what to write instead.
//   node scripts/prose.mjs [FILE …]     default: every tracked text file; the exit status is 1 where a phrase is found
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './install.mjs'

/** @type {readonly (readonly [pattern: RegExp, name: string])[]} */
const PHRASES = [
  [
    /(?:^|[.:;(]\s|\/\*\*\s|\*\s|\/\/\s|^- |^\* )(?:What|Who|Whoever|Whatever|Nobody|Somebody|Nothing)\s(?!is a |does |do |can |should |would |to )[a-z']+[^?]*$/,
    'a sentence that begins with What, Who or Nothing',
  ],
  [/\b(?:is|are|was|were) no (?!longer|more|less|different|need\b)[a-z]/i, '"is no X"'],
  [/\b(?:nobody|somebody|whoever|whichever way|anew|wherever it)\b/i, 'nobody, somebody, whoever or anew'],
  [/\b(?:stands?|stood) (?:in|there|for it|beside|at|as|behind|before|here|on)\b/i, '"stands"'],
  [
    /\b(?:is|are|was|were|be|been) (?:told|said|taken|brought|asked for|looked at|kept)\b/i,
    'passive of tell, say, take, bring or keep',
  ],
  [/\bbeside\b|\bfor want of\b|\bin the place of\b|\bgoes? by itself\b|\bas it stands\b/i, 'beside, for want of'],
  [/\b(?:brings?|brought) (?:back|entries|what|the|a|it|nothing)\b/i, '"bring"'],
  [/\b(?:tells?|says?) (?:so|of|which|what|whether|where|how)\b/i, '"tells which", "says so"'],
  [/\b(?:so many|that many of|a thing that|of which one|of what|by which one)\b/i, '"of which", "so many"'],
]

/** Lists of words, texts of other people, generated files and records of measurements. */
const LEFT_OUT =
  /package-lock|migrations\/|stop-?words|word-lists|function-words|phrases|bench\/records\/|scripts\/prose|scripts\/demo\/(?:entries|tasks)|test\/fixtures\/|THIRD-PARTY|hook\.mjs$/
const TEXT = /\.(?:ts|tsx|mjs|md|sql|toml|json)$/

/** The prose of one line: comments and strings of code, everything but code of Markdown. @param {string} path @param {string} line */
const proseOf = (path, line) =>
  path.endsWith('.md')
    ? line.replace(/`[^`]*`/g, '`…`')
    : (line.match(/\/\/.*$|^\s*\*.*$|\/\*.*$|--\s.*$|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`/g) ?? [])
        .filter((text) => /\w+ \w+ \w+/.test(text))
        .join(' ')

const named = process.argv.slice(2)
const files = (
  named.length > 0 ? named : execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n')
).filter((path) => TEXT.test(path) && !LEFT_OUT.test(path) && existsSync(join(root, path)))

let hits = 0
for (const path of files) {
  let isCode = false
  for (const [at, line] of readFileSync(join(root, path), 'utf8').split('\n').entries()) {
    if (path.endsWith('.md') && line.trimStart().startsWith('```')) isCode = !isCode
    if (isCode || line.includes('prose-ignore')) continue
    const prose = proseOf(path, line)
    for (const [pattern, name] of PHRASES)
      if (pattern.test(prose)) {
        hits++
        console.error(`${path}:${at + 1}: ${name}: ${line.trim().slice(0, 140)}`)
      }
  }
}
if (hits > 0) console.error(`${hits} phrases to replace`)
process.exitCode = hits > 0 ? 1 : 0
