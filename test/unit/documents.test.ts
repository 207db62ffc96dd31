import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '../support/build'

/** Links in documents work, and comments cite existing files. */
const SKIPPED = new Set(['node_modules', 'lib', 'dist', 'coverage'])

/** Every file with one of these endings below a folder, without hidden, installed and generated files. */
const filesBelow = (folder: string, ending: RegExp): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory())
      return SKIPPED.has(entry.name) || entry.name.startsWith('.') ? [] : filesBelow(path, ending)
    return ending.test(entry.name) ? [path] : []
  })

const read = (file: string): string => readFileSync(file, 'utf8')
const pages = filesBelow(ROOT, /\.md$/)
const withoutCode = (text: string): string => text.replaceAll(/```[\s\S]*?```|`[^`\n]*`/g, '')

/** The anchors of a page on GitHub. */
const anchorsOf = (page: string): Set<string> =>
  new Set(
    [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
      (title as string)
        .trim()
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(/\s/g, '-'),
    ),
  )

it('follows every relative link of every document to a file and a heading that exist', () => {
  const broken = pages.flatMap((page) =>
    [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, link]) => link as string)
      .filter((link) => !/^[a-z]+:/.test(link))
      .filter((link) => {
        const [path = '', anchor] = link.split('#')
        const target = path === '' ? page : join(dirname(page), decodeURIComponent(path))
        if (!existsSync(target)) return true
        return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).has(anchor)
      })
      .map((link) => `${relative(ROOT, page)}: ${link}`),
  )
  expect(pages.length).toBeGreaterThan(50)
  expect(broken).toEqual([])
})

/** Paths from the root of the repository, without patterns and placeholders. */
const PATH = /(?<![\w./-])(?:src|test|bench|scripts|migrations|docs)\/[\w./@*<>…-]*[\w/]/g
const isChosen = (path: string): boolean => /[*<>…]|NNNN/.test(path)

it('names files that exist in the documents of docs and in the map of the source', () => {
  const own = pages.filter((page) => /^(docs\/(?!contracts)|src\/)/.test(relative(ROOT, page)))
  const missing = own.flatMap((page) =>
    [...read(page).matchAll(/`([^`\n]+)`/g)]
      .flatMap(([, code]) => [...(code as string).matchAll(PATH)].map(([path]) => path))
      .filter((path) => !isChosen(path) && !existsSync(join(ROOT, path)))
      .map((path) => `${relative(ROOT, page)}: ${path}`),
  )
  expect(own.length).toBeGreaterThan(20)
  expect(missing).toEqual([])
})

const sources = ['src', 'test', 'bench', 'scripts'].flatMap((folder) =>
  filesBelow(join(ROOT, folder), /\.(ts|tsx|mjs)$/),
)
const commentsOf = (file: string): string[] =>
  [...read(file).matchAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm)].map(([text]) => text)

it('names pages of docs and records of bench in comments only when they exist', () => {
  const missing = sources.flatMap((file) =>
    commentsOf(file)
      .flatMap((comment) => [...comment.matchAll(PATH)].map(([path]) => path))
      .filter((path) => /^(docs\/.+\.md|bench\/.+)$/.test(path) && !isChosen(path) && !existsSync(join(ROOT, path)))
      .map((path) => `${relative(ROOT, file)}: ${path}`),
  )
  expect(missing).toEqual([])
})

const CONTRACTS = join(ROOT, 'docs', 'contracts')
const SECTION =
  /\b(platform|threads|fabric|packs|history|capture|operate)(?:\.md| contract)?,? (§\d+(?:\.\d+)*(?:, §\d+(?:\.\d+)*)*)/g

it('cites sections of contracts that exist', () => {
  const sections = new Map(
    readdirSync(CONTRACTS).map((name) => [
      name.replace('.md', ''),
      new Set(
        [...read(join(CONTRACTS, name)).matchAll(/^(?:#+ |\*\*)(\d+(?:\.\d+)*)\.? /gm)].map(([, number]) => number),
      ),
    ]),
  )
  let cited = 0
  const missing = [...sources, ...pages].flatMap((file) =>
    [...read(file).matchAll(SECTION)].flatMap(([, page, numbers]) =>
      (numbers as string).split(', ').flatMap((section) => {
        cited++
        const exists = sections.get(page as string)?.has(section.slice(1))
        return exists ? [] : [`${relative(ROOT, file)}: ${page} ${section}`]
      }),
    ),
  )
  expect(cited).toBeGreaterThan(100)
  expect(missing).toEqual([])
})
