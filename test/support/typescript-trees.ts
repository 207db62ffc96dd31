import { join } from 'node:path'
import type { SourceFile } from 'typescript/unstable/ast'
import { API } from 'typescript/unstable/sync'
import { ROOT } from './build'

/**
 * The results of `read` for each file's tree, as the TypeScript compiler parses it: it checks nothing and follows no import. `isFlawed` says
 * whether it found a mistake. The compiler is a process of its own, whose interface is new: this is the one file that knows how to ask it.
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
