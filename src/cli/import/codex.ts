// Reads Codex: task groups of MEMORY.md and rollout summaries of its memories folder (docs/import/codex.md).
import { existsSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { JsonObject } from '../../domain/entry/metadata'
import { Collector, type Found } from './collector'
import { markdownBelow, readText, type TextFile } from './files'
import { isJsonObject, RowProblem, timeOfText } from './values'

export async function readCodex(path: string): Promise<Collector> {
  const collector = new Collector()
  const isFolder = statSync(path).isDirectory()
  const root = isFolder && existsSync(join(path, 'memories')) ? join(path, 'memories') : isFolder ? path : dirname(path)
  const files = markdownBelow(collector, isFolder ? root : path, /\.md$/)
  for (const file of files.filter(({ name }) => /(^|\/)rollout_summaries\//.test(name)))
    collector.take(file.name, () => summaryOf(file))
  const summaries = new Map(collector.entries.map(({ where, id }) => [basename(where), String(id)]))
  for (const file of files) {
    if (/(^|\/)rollout_summaries\//.test(file.name)) continue
    if (/^(raw_memories|memory_summary)\.md$/.test(basename(file.name)))
      collector.note(file.name, 'repeats MEMORY.md and the summaries: left out')
    else if (/(^|\/)skills\//.test(file.name)) collector.skip('files of skills')
    else if (/^MEMORY.*\.md$/.test(basename(file.name))) takeGroups(collector, file, summaries)
    else collector.skip('other Markdown files')
  }
  return collector.holding(path, 'file of the memories of Codex')
}

const HEADER = /^(thread_id|updated_at|rollout_path|cwd|git_branch): ?(.*)$/

function summaryOf(file: TextFile): Omit<Found, 'where'> {
  const lines = readText(file.path).split(/\r?\n/)
  const header = new Map<string, string>()
  let at = 0
  for (; at < lines.length; at++) {
    const [, name, value] = HEADER.exec(lines[at] ?? '') ?? []
    if (name === undefined || value === undefined) break
    header.set(name, value.trim())
  }
  const thread = header.get('thread_id')
  if (thread === undefined || thread === '') throw new RowProblem('has no header with a thread_id')
  const body = lines.slice(at).join('\n').trim()
  const title = /^# (.+)$/m.exec(body)?.[1]
  const [project, branch, rollout] = ['cwd', 'git_branch', 'rollout_path'].map((name) => header.get(name))
  return {
    id: thread,
    threadId: thread,
    source: 'agent',
    text: body,
    metadata: {
      kind: 'session',
      ...(title === undefined ? {} : { title: title.trim() }),
      ...(project === undefined ? {} : { project }),
      ...(branch === undefined ? {} : { git_branch: branch }),
      ...(rollout === undefined ? {} : { rollout_path: rollout }),
    },
    createdAt: timeOfText(header.get('updated_at'), 'updated_at'),
  }
}

/** Yields each `# Task Group: …` with its content. */
function takeGroups(collector: Collector, file: TextFile, summaries: ReadonlyMap<string, string>): void {
  let groups: string[]
  try {
    groups = readText(file.path)
      .replaceAll('\r\n', '\n')
      .split(/^(?=# Task Group:)/m)
  } catch (error) {
    if (!(error instanceof RowProblem)) throw error
    collector.refuse(file.name, error.message)
    return
  }
  const met = new Map<string, number>()
  if (groups.every((group) => !group.startsWith('# Task Group:'))) collector.refuse(file.name, 'holds no task group')
  for (const group of groups) {
    const title = /^# Task Group: ?(.*)/.exec(group)?.[1]?.trim()
    if (title === undefined) continue
    const count = (met.get(title) ?? 0) + 1
    met.set(title, count)
    const id = `${file.name}#${title}${count === 1 ? '' : `-${count}`}`
    collector.take(id, () => groupOf(collector, file, id, title, group, summaries))
  }
}

function groupOf(
  collector: Collector,
  file: TextFile,
  id: string,
  title: string,
  group: string,
  summaries: ReadonlyMap<string, string>,
): Omit<Found, 'where'> {
  const scope = /^scope: ?(.*)$/m.exec(group)?.[1]?.trim()
  const project = /^applies_to:.*?\bcwd=([^;\n]+)/m.exec(group)?.[1]?.trim()
  if (project === undefined) collector.note(id, 'names no cwd in applies_to: its project is not known')
  const keywords = [...group.matchAll(/^### keywords\n+((?:- .*\n?)*)/gm)].flatMap(([, list = '']) =>
    list.split(/[\n,]/).map((word) => word.replace(/^\s*- ?/, '').trim()),
  )
  const { times, links } = filesOf(collector, id, group, summaries)
  if (times.length === 0) collector.note(id, 'names no time: it gets the time of the file')
  const references: JsonObject = links.length === 0 ? {} : { references: { context_ids: links } }
  return {
    id,
    threadId: project ?? title,
    source: 'agent',
    text: group,
    metadata: {
      kind: 'guide',
      title,
      ...(project === undefined ? {} : { project }),
      ...(scope === undefined ? {} : { scope }),
      ...(isJsonObject(references) ? references : {}),
    },
    tags: keywords,
    createdAt: times.length === 0 ? file.at : Math.min(...times),
    updatedAt: times.length === 0 ? file.at : Math.max(...times),
  }
}

const FILE_LINE = /^- (?:\S*\/)?rollout_summaries\/(.*)$/gm

/** Returns the rollouts that a group names: their times, and those whose summaries exist. */
function filesOf(collector: Collector, id: string, group: string, summaries: ReadonlyMap<string, string>) {
  const times: number[] = []
  const links: string[] = []
  for (const [, line = ''] of group.matchAll(FILE_LINE)) {
    const [, name, rest] = /^(\S+\.md) \((.*)\)\s*$/.exec(line) ?? []
    if (name === undefined || rest === undefined) {
      collector.note(id, `a line below rollout_summary_files is cut: ${line}`)
      continue
    }
    const summary = summaries.get(name)
    if (summary === undefined)
      collector.note(id, `names rollout_summaries/${name}, which does not exist or was not imported`)
    else if (!links.includes(summary)) links.push(summary)
    try {
      times.push(timeOfText(/\bupdated_at=([^,)]+)/.exec(rest)?.[1], 'updated_at'))
    } catch (error) {
      if (!(error instanceof RowProblem)) throw error
      collector.note(id, error.message)
    }
  }
  return { times, links }
}
