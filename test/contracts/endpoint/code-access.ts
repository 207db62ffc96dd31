import { beforeAll, describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, type Team } from '../../support/access'
import { sharedTeam } from './session'

const PATH = '/code/apollo/files'
const FILES = { files: [{ path: 'src/a.ts', content: 'export const secretPlan = 1' }] }

/** Access to code (platform contract §5). */
export function codeAccessContract(): void {
  let team: Team
  beforeAll(async () => {
    team = await sharedTeam()
  })

  const found = async (key: string, args: object = {}) =>
    (await team.call(key, 'context_searchCode', { query: 'secretPlan', mode: 'symbol', ...args })).data

  describe('code of a project', () => {
    it('[FABRIC-118, FABRIC-153] separates code of other projects and organizations, and lets readers only read', async () => {
      const writer = await team.key('acme')
      const reader = await team.key('acme', { role: 'reader' })
      const narrowed = await team.key('acme', { projects: ['zeus'] })
      const stranger = await team.key('other')
      expect((await team.api(PATH, writer.key, 'PUT', FILES)).body).toMatchObject({ stored: 1 })
      for (const { key } of [writer, reader]) expect((await found(key)).total).toBe(1)
      for (const { key } of [narrowed, stranger]) {
        expect(await found(key)).toMatchObject({ total: 0, indexStatus: { totalFiles: 0 } })
        for (const mode of ['text', 'semantic']) expect((await found(key, { mode, threshold: 0 })).total).toBe(0)
      }
      // A project of its own: that of another org does not shine through.
      expect((await team.api(PATH, stranger.key)).body).toEqual({ files: [] })
      const denied = { error: 'Project access denied: apollo', code: 'FORBIDDEN' }
      expect(await found(narrowed.key, { projectPath: 'apollo' })).toEqual(denied)
      expect(await found(narrowed.key, { projectPath: 'nowhere' })).toEqual({
        ...denied,
        error: 'Project access denied: nowhere',
      })
      for (const [method, key] of [
        ['PUT', reader.key],
        ['DELETE', reader.key],
        ['PUT', narrowed.key],
        ['GET', narrowed.key],
      ] as const)
        expect((await team.api(PATH, key, method, method === 'PUT' ? FILES : undefined)).status).toBe(403)
      expect((await team.api(PATH, ADMIN_TOKEN)).body.error.message).toBe('Organization context required')
      expect((await team.api(PATH, null)).status).toBe(401)
      expect((await team.api(PATH, reader.key)).body.files).toHaveLength(1)
    })

    it('[FABRIC-88, FABRIC-163] is open to readers, and leaves no audit row, version or change', async () => {
      const writer = await team.key('watched')
      const reader = await team.key('watched', { role: 'reader', projects: ['apollo'] })
      const stored = await team.call(writer.key, 'context_store', {
        ...{ type: 'decision', content: 'kept', metadata: { projectPath: 'apollo' } },
      })
      const audited = async () => (await team.api('/orgs/watched/audit', ADMIN_TOKEN)).body.events.length
      const before = await audited()
      const visit = async (projectPath: string) => (await team.call(reader.key, 'context_orient', { projectPath })).data
      expect((await visit('apollo')).offlineGap).toBeNull()
      expect((await visit('apollo')).offlineGap).toMatchObject({ memoriesAdded: 0 })
      expect(await audited()).toBe(before)
      const { memory } = (await team.call(writer.key, 'context_get', { memoryId: stored.data.id })).data
      expect(memory).toMatchObject({ version: 1, updatedAt: memory.createdAt })
      expect(await visit('zeus')).toEqual({ error: 'Project access denied: zeus', code: 'FORBIDDEN' })
    })

    it('[FABRIC-98, FABRIC-154] stores all memories of an event in one batch with one row in the audit log, or none', async () => {
      const writer = await team.key('noticed')
      const base = { timestamp: '2026-02-25T10:00:00Z', sessionId: 's', cliType: 'codex', projectPath: 'apollo' }
      const report = async (key: string, type: string, payload: object) =>
        (await team.call(key, 'context_reportEvent', { event: { ...base, type, payload } })).data
      const failed = await report(writer.key, 'command_executed', { command: 'make', exitCode: 2 })
      const opened = await report(writer.key, 'file_opened', { path: 'a.ts', content: 'const a = 1' })
      expect(opened.triggeredActions).toContain('indexed_file')
      const reader = await team.key('noticed', { role: 'reader' })
      expect(await report(reader.key, 'session_start', {})).toMatchObject({ code: 'FORBIDDEN' })
      await report(writer.key, 'error_occurred', {})
      const two = await team.key('noticed', { projects: ['apollo', 'zeus'] })
      const { projectPath: _, ...homeless } = { ...base, type: 'session_start', payload: {} }
      const unnamed = await team.call(two.key, 'context_reportEvent', { event: homeless })
      expect(unnamed.data.error).toContain('event.projectPath is required for this key; choose one of: apollo, zeus')
      const unsummed = await team.call(two.key, 'context_summarize', { options: { targetTokens: 50 } })
      expect(unsummed.data.error).toBe('projectPath is required for this key; choose one of: apollo, zeus')
      const { events } = (await team.api('/orgs/noticed/audit', ADMIN_TOKEN)).body
      const rows = events.filter(({ tool }: { tool: string | null }) => tool === 'context_reportEvent')
      const idsOf = ({ memoryIds }: { memoryIds: string[] }) => memoryIds.map(Number).sort()
      expect(rows).toMatchObject([
        { allowed: true, ids: idsOf(failed) },
        { allowed: true, ids: idsOf(opened) },
        { allowed: false, ids: [] },
      ])
      expect(events.filter(({ action }: { action: string }) => action.startsWith('code.'))).toEqual([])
    })

    it('leaves one row in the audit log for each upload, and one for each denial', async () => {
      const writer = await team.key('noted')
      const reader = await team.key('noted', { role: 'reader' })
      await team.api(PATH, writer.key, 'PUT', FILES)
      await team.api(PATH, reader.key, 'DELETE')
      await team.api(PATH, writer.key, 'DELETE')
      const { events } = (await team.api('/orgs/noted/audit', ADMIN_TOKEN)).body
      const rows = events.filter(({ action }: { action: string }) => action.startsWith('code.'))
      expect(rows).toMatchObject([
        {
          action: 'code.put',
          key_id: writer.id,
          allowed: true,
          ids: [],
          detail: { stored: 1, unchanged: 0, deleted: 0, skipped: 0 },
        },
        { action: 'code.clear', key_id: reader.id, allowed: false, detail: { denied: 1 } },
        { action: 'code.clear', key_id: writer.id, allowed: true, detail: { deleted: 1 } },
      ])
    })
  })
}
