import { appendFileSync } from 'node:fs'
import { stripVTControlCharacters } from 'node:util'
import type { SerializedError } from 'vitest'
import type { Reporter, TestModule } from 'vitest/node'

/**
 * Lines of a failure in the summary: the expectation and its location. The full report is in the output of its part of
 * the run.
 */
const LINES_OF_A_FAILURE = 25
const FAILURES_TOLD = 20

const said = (error: Pick<SerializedError, 'message' | 'stack'> & { diff?: string }): string =>
  stripVTControlCharacters(
    [error.message, error.diff, error.stack?.replace(error.message, '')].filter(Boolean).join('\n'),
  )
    .split('\n')
    .slice(0, LINES_OF_A_FAILURE)
    .map((line) => `    ${line.slice(0, 400)}`)
    .join('\n')

const failedIn = (module: TestModule) => [
  ...module.errors().map((error) => ({ title: 'the file itself', error })),
  ...[...module.children.allSuites()].flatMap((suite) =>
    suite.errors().map((error) => ({ title: suite.fullName, error })),
  ),
  ...[...module.children.allTests('failed')].flatMap((test) =>
    (test.result().errors ?? []).map((error) => ({ title: test.fullName, error })),
  ),
]

/** Records failures for the summary of `scripts/test.mjs`, so that the end of a run in two parts lists all. */
export default class FailuresAtTheEnd implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const { COMMONPLACE_TEST_NOTES: notes } = process.env
    const failures = [
      ...modules.flatMap((module) =>
        failedIn(module).map(({ title, error }) => ({
          title: `${module.project.name}: ${module.relativeModuleId} > ${title}`,
          error,
        })),
      ),
      ...unhandled.map((error) => ({ title: 'Outside of any test', error })),
    ]
    if (notes === undefined || failures.length === 0) return
    const told = failures.slice(0, FAILURES_TOLD).map(({ title, error }) => `FAILED ${title}\n${said(error)}\n`)
    appendFileSync(notes, `\n${failures.length} failed.\n${told.join('\n')}`)
  }
}
