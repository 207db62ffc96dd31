/** The part of the library that the Worker uses: a module that loads on demand contains all exports of what it names. */
export { skillEntry } from '@modelcontextprotocol/server/ext/skills'
