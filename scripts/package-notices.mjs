// Collects the notices of packages whose code is bundled into dist: name, version, license and license text.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'

const TEXTS = /^(licen[cs]e|copying|notice)([.-].*)?$/i

/**
 * Returns the folder of the package that a file belongs to; null if there is none.
 *
 * @param {string} root of the checkout
 * @param {string} file
 */
function packageOf(root, file) {
  for (let folder = dirname(file); folder.startsWith(root) && folder !== root; folder = dirname(folder)) {
    const parts = relative(root, folder).split(sep)
    const at = parts.lastIndexOf('node_modules')
    const length = parts.length - at - 1
    const isPackage = at >= 0 && length === (parts[at + 1]?.startsWith('@') ? 2 : 1)
    if (isPackage && existsSync(join(folder, 'package.json'))) return folder
  }
  return null
}

/** @param {string} folder */
function noticeOf(folder) {
  const { name, version, license, author, repository } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const texts = readdirSync(folder)
    .filter((file) => TEXTS.test(file))
    .sort()
    .map((file) => readFileSync(join(folder, file), 'utf8').trim())
  // Some packages have the text only in their README.
  const readme = readdirSync(folder).find((file) => /^readme(\.\w+)?$/i.test(file))
  const section = readme && /^#+ *licen[cs]e\b[\s\S]*/im.exec(readFileSync(join(folder, readme), 'utf8'))?.[0]
  if (texts.length === 0 && section) texts.push(section.trim())
  const from = typeof repository === 'string' ? repository : (repository?.url ?? '')
  const by = typeof author === 'string' ? author : (author?.name ?? '')
  return { name, version, license: String(license?.type ?? license ?? ''), texts, from, by }
}

/**
 * Returns the notices as one text, sorted by package name.
 *
 * @param {string} root of the checkout
 * @param {Iterable<string>} files bundled files, from the root
 * @throws {Error} for a package without a license
 */
export function noticesOf(root, files) {
  const folders = new Set([...files].flatMap((file) => packageOf(root, resolve(root, file)) ?? []))
  const notices = [...folders].map(noticeOf).sort((a, b) => (a.name < b.name ? -1 : 1))
  const unknown = notices.find(({ license }) => license === '')
  if (unknown !== undefined) throw new Error(`${unknown.name} ${unknown.version} does not state a license`)
  const head =
    'The files in dist contain code of the packages listed here, each under its own license.\n' +
    'Packages installed next to this one include their own licenses.\n'
  const parts = notices.map(({ name, version, license, texts, from, by }) =>
    [
      `${name} ${version}\nLicense: ${license}${by === '' ? '' : `\nAuthor: ${by}`}${from === '' ? '' : `\nSource: ${from}`}`,
      ...(texts.length > 0
        ? texts
        : [`The package does not include its license text; it is ${license} of https://spdx.org/licenses/.`]),
    ].join('\n\n'),
  )
  return `${[head, ...parts].join(`\n${'-'.repeat(80)}\n\n`)}\n`
}
