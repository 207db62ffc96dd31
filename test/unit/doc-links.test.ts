import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '../support/build'

const FOLDERS = ['*.md', 'llms.txt', 'docs/**/*.md', 'test/**/*.md', 'bench/**/*.md', 'migrations/*.md', 'src/*.md']
const PAGES = FOLDERS.flatMap((pattern) => globSync(pattern, { cwd: ROOT }))

/** The anchor that GitHub gives a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll('`', '')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

const anchorsOf = (text: string): Set<string> =>
  new Set([...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading)))

it('has no link in a page to a file or a heading that does not exist', () => {
  expect(PAGES.length).toBeGreaterThan(100)
  const broken = PAGES.flatMap((page) => {
    const text = readFileSync(join(ROOT, page), 'utf8')
    const prose = text.replaceAll(/```[\s\S]*?```/g, '').replaceAll(/`[^`\n]*`/g, '')
    const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
    return links.flatMap((link) => {
      if (/^[a-z]+:/.test(link)) return []
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? join(ROOT, page) : resolve(ROOT, dirname(page), path)
      if (!existsSync(target)) return [`${page}: ${link}`]
      const isFound =
        anchor === undefined || !target.endsWith('.md') || anchorsOf(readFileSync(target, 'utf8')).has(anchor)
      return isFound ? [] : [`${page}: ${link}`]
    })
  })
  expect(broken).toEqual([])
})
