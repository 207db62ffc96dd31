import { join } from 'node:path'
import type { SourceFile } from 'typescript/unstable/ast'
import { API } from 'typescript/unstable/sync'
import { ROOT } from './build'

/**
 * Calls `read` with the TypeScript syntax tree of each file, without type checks and imports. `isFlawed` is whether the
 * file has a syntax error. Only this file knows the interface of the compiler process.
 */
export function readTrees<T>(paths: readonly string[], read: (tree: SourceFile, isFlawed: boolean) => T): T[] {
  const config = join(ROOT, 'trees.json')
  const compilerOptions = { noResolve: true, noLib: true, allowJs: true, types: [], jsx: 'preserve' }
  const settings = JSON.stringify({ compilerOptions, files: paths })
  const api = new API({
    cwd: ROOT,
    fs: {
      readFile: (path) => (path === config ? settings : undefined),
      fileExists: (path) => (path === config ? true : undefined),
    },
  })
  try {
    const program = api.updateSnapshot({ openProjects: [config] }).getProject(config)?.program
    return paths.map((path) => {
      const tree = program?.getSourceFile(path)
      if (program === undefined || tree === undefined) throw new Error(`the compiler did not read ${path}`)
      return read(tree, program.getSyntacticDiagnostics(path).length > 0)
    })
  } finally {
    api.close()
  }
}
