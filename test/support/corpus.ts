import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './build'

/** Real text in every checkout: the READMEs and changelogs of the installed packages, one section per entry. */
export interface Section {
  readonly package: string
  readonly file: string
  readonly heading: string
  readonly text: string
}

const MODULES = join(ROOT, 'node_modules')

const packages = (): string[] =>
  readdirSync(MODULES)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) =>
      name.startsWith('@') ? readdirSync(join(MODULES, name)).map((sub) => `${name}/${sub}`) : [name],
    )
    .sort()

function sectionsOf(name: string, file: string): Section[] {
  const path = join(MODULES, name, file)
  if (!existsSync(path) || !statSync(path).isFile()) return []
  return readFileSync(path, 'utf8')
    .replaceAll('\u0000', '')
    .split(/^(?=#{1,4} )/m)
    .map((text) => text.trim().slice(0, 20_000))
    .filter((text) => text.length > 40)
    .map((text) => ({ package: name, file, heading: (text.split('\n')[0] as string).replace(/^#+ */, ''), text }))
}

/** @param most maximum number of sections, in order of package names */
export function readCorpus(most: number): Section[] {
  const sections: Section[] = []
  for (const name of packages())
    for (const file of ['README.md', 'readme.md', 'CHANGELOG.md', 'changelog.md']) {
      const found = sectionsOf(name, file)
      const known = sections.some((section) => section.text === found[0]?.text)
      if (!known) sections.push(...found)
    }
  return sections.slice(0, most)
}
