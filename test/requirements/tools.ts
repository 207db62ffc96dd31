import { ALL_TOOLS } from '../support/tool-examples'

/** The title of the test that proves the promise of a tool that no list of promises has: its description. */
export function toolPromise(id: string): string {
  const tool = ALL_TOOLS.find(({ promise }) => promise === id)
  if (tool === undefined) throw new Error(`no tool declares the promise ${id}`)
  return `${tool.description} [${id}]`
}
