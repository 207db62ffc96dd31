import type { Tool } from '../../src/tools/define-tool'

/** Addresses that list tools, and the prefixes of their names in test calls. */
export const TOOL_PLACES = [
  ['/mcp', ''],
  ['/mcp/connector', ''],
  ['/mcp/core', 'core:'],
] as const

/** The name of a tool in test calls: `core:` before those of the core. */
export const calledName = ({ family, name }: Tool): string => (family.name === 'core' ? `core:${name}` : name)

/** The address of a tool and its name there. */
export function placeOf(name: string): { readonly path: string; readonly tool: string } {
  if (name.startsWith('core:')) return { path: '/mcp/core', tool: name.slice('core:'.length) }
  return { path: name === 'search' || name === 'fetch' ? '/mcp/connector' : '/mcp', tool: name }
}
