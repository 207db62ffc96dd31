import type { Page } from './page'
import { activity } from './pages/activity'
import { audit, exportAudit } from './pages/audit'
import { backups, makeBackup } from './pages/backups'
import { connect, storeFirst } from './pages/beginning'
import { cost } from './pages/cost'
import { deleted, restoreDeleted } from './pages/deleted'
import { entry } from './pages/entry'
import { askDelete, erase, remove, restore } from './pages/entry-delete'
import { edit, storeEdit } from './pages/entry-edit'
import { entryVersion } from './pages/entry-version'
import { help, storePreferences } from './pages/help'
import { keys, limitKey, makeKey, revokeKey, rotateKey, switchCapture } from './pages/keys'
import { overview } from './pages/overview'
import { pack } from './pages/pack'
import { changeProjects, makeOrg, makeProject, projects } from './pages/projects'
import { approve, approveSession, drop, merge, review, several, undo } from './pages/review'
import { searchPage } from './pages/search'
import { settings, tryWork } from './pages/settings'
import { resolve, stale } from './pages/stale'
import { threadOfPath } from './pages/thread'
import { deleteThreads, threads, undoThreads } from './pages/threads'
import { exportOrg, importFile } from './pages/transfer'
import { archive, usage } from './pages/usage'
import { why } from './pages/why'
import type { Visit } from './visit'

export type Handler = (visit: Visit) => Promise<Page | Response>

/** Handlers of every page and form, by address. */
export const ROUTES: readonly (readonly [method: 'GET' | 'POST', path: string, handler: Handler, brings?: 'file'])[] = [
  ['GET', '/', overview],
  ['POST', '/first-memory', storeFirst],
  ['GET', '/search', searchPage],
  ['GET', '/threads', threads],
  ['POST', '/threads/delete', deleteThreads],
  ['POST', '/threads/undo', undoThreads],
  ['GET', '/threads/*', async (visit) => threadOfPath(visit)],
  ['GET', '/entries/:id', entry],
  ['GET', '/entries/:id/versions/:version', entryVersion],
  ['GET', '/entries/:id/edit', edit],
  ['POST', '/entries/:id/edit', storeEdit],
  ['GET', '/entries/:id/delete', askDelete],
  ['POST', '/entries/:id/delete', remove],
  ['POST', '/entries/:id/erase', erase],
  ['POST', '/entries/:id/restore', restore],
  ['GET', '/deleted', deleted],
  ['POST', '/deleted', restoreDeleted],
  ['GET', '/pack', pack],
  ['GET', '/why', why],
  ['GET', '/activity', activity],
  ['GET', '/usage', usage],
  ['POST', '/usage/archive', archive],
  ['GET', '/review', review],
  ['POST', '/review/approve', approve],
  ['POST', '/review/keep', approveSession],
  ['POST', '/review/merge', merge],
  ['POST', '/review/drop', drop],
  ['POST', '/review/several', several],
  ['POST', '/review/undo', undo],
  ['GET', '/stale', stale],
  ['POST', '/stale', resolve],
  ['GET', '/projects', (visit) => projects(visit)],
  ['POST', '/projects', makeProject],
  ['POST', '/projects/rename', changeProjects('rename')],
  ['POST', '/projects/merge', changeProjects('merge')],
  ['POST', '/projects/split', changeProjects('split')],
  ['POST', '/projects/undo', changeProjects('undo')],
  ['POST', '/organizations', makeOrg],
  ['GET', '/keys', (visit) => keys(visit)],
  ['POST', '/keys', makeKey],
  ['POST', '/keys/revoke', revokeKey],
  ['POST', '/keys/rotate', rotateKey],
  ['POST', '/keys/limits', limitKey],
  ['POST', '/keys/capture', switchCapture],
  ['GET', '/audit', audit],
  ['GET', '/audit/export', exportAudit],
  ['GET', '/backups', backups],
  ['POST', '/backups', makeBackup],
  ['GET', '/cost', cost],
  ['GET', '/connect', connect],
  ['GET', '/help', help],
  ['POST', '/preferences', storePreferences],
  ['GET', '/settings', settings],
  ['POST', '/settings/work', tryWork],
  ['POST', '/settings/export', exportOrg],
  ['POST', '/settings/import', importFile, 'file'],
]

/** Returns whether an address is that of a page or below one: errors there are shown as a page. */
export const isPagePath = (path: string): boolean =>
  ROUTES.some(([method, known]) => method === 'GET' && known.split('/')[1] === path.split('/')[1])
