// Checks for events on this machine that were not sent yet.
import { spoolState } from '../capture/settings.mjs'

/** @returns {Promise<import('./command.mjs').Finding[]>} */
export async function checkSpool() {
  const { waiting, lost, answeredAt, failedSince } = spoolState()
  const answered =
    answeredAt === null
      ? 'hooks have not reached a server yet'
      : `last answered ${new Date(answeredAt).toISOString().slice(0, 16)}Z`
  const detail = `${waiting} ${waiting === 1 ? 'event waits' : 'events wait'}, ${lost} lost; ${answered}`
  if (failedSince === null) return [{ name: 'spool', ok: true, detail }]
  return [
    {
      name: 'spool',
      ok: null,
      detail: `${detail}; no response since ${new Date(failedSince).toISOString().slice(0, 16)}Z`,
      todo: 'the next event of a client sends them',
    },
  ]
}
