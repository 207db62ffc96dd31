// The story of the demonstration: Claude Code works on a project and is killed; the next day Codex starts in a clone of the same
// repository on another machine, and its model is told what was decided and where it was left off.

/**
 * @typedef {object} Player how clients are played: by their recorded events, or by the programs themselves
 * @property {string} by
 * @property {(name: string) => Promise<unknown>} desk a machine with a home of its own and a clone of the repository
 * @property {(desk: any) => Promise<void>} work Claude Code does a turn, begins the next, and is killed in the middle of it
 * @property {(desk: any) => Promise<string>} begin Codex starts; the text between the marks that its first model request holds
 */

export const FIRST = 'Fix the harbour light'
export const SECOND = 'Now the fog horn'
export const DECIDED = 'We decided to use LED lamps instead of oil. The light works again.'

/**
 * @param {{ url: string, pass: (minutes: number) => Promise<void> }} server
 * @param {Player} player
 * @param {(line: string) => void} say
 * @returns {Promise<string>} what Codex's model was told
 */
export async function tellStory(server, player, say) {
  say(`Monday, on Ada's machine: Claude Code (${player.by}) is asked "${FIRST}", then "${SECOND}".`)
  const ada = await player.desk('ada')
  await player.work(ada)
  say('It is killed in the middle of that (kill -9).')
  await server.pass(24 * 60)
  say("Tuesday, on Bob's machine: Codex starts in a clone of the repository. Its first model request holds:")
  const told = await player.begin(await player.desk('bob'))
  say(told.replace(/^/gm, '    '))
  return told
}
