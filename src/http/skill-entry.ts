/** The only part of the library that is used. The dynamic import of a package would load all its exports. */
export { skillEntry } from '@modelcontextprotocol/server/ext/skills'
