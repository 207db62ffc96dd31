// Selects the call by which a memory of the gold set is stored.
/** The words of fabric for the kinds that the history stores through it. */
const FABRIC_TYPES = {
  gotcha: 'bug_fix',
  bug_fix: 'bug_fix',
  error_pattern: 'bug_fix',
  convention: 'convention',
  decision: 'decision',
  pattern: 'code_pattern',
}

/**
 * @param {Record<string, any>} memory a memory of gold.mjs, which is not named as a type: tests in workerd know no types of Node
 * @param {(id: string) => string} idOf
 */
export function callFor(memory, idOf) {
  const { by, kind, title, text, project, domain, tags, status, thread, agent, diary, audience } = memory
  const links = (memory.links ?? []).map((link) => link.replace(/:(.*)$/, (_, id) => `:${idOf(id)}`))
  const linked = (relation) =>
    links.filter((link) => link.startsWith(`${relation}:`)).map((link) => Number(link.slice(relation.length + 1)))
  const defined = (object) => Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined))
  if (by === 'remember') {
    const parts = {
      title,
      content: text,
      kind,
      project,
      domain,
      tags,
      status,
      thread_id: thread,
      agent_id: agent,
      diary,
      audience,
      metadata: memory.expires_at === undefined ? undefined : { expires_at: memory.expires_at },
    }
    return { name: 'remember', args: defined({ ...parts, related_to: links.length > 0 ? links : undefined }) }
  }
  const contradicts = linked('contradicts')
  const named = defined({
    title,
    domain,
    status,
    expires_at: memory.expires_at,
    contradicts: contradicts.length > 0 ? contradicts : undefined,
  })
  if (by === 'context_store')
    return {
      name: 'context_store',
      args: {
        type: FABRIC_TYPES[kind ?? ''],
        content: text,
        metadata: { ...named, ...defined({ projectPath: project, tags }) },
      },
    }
  return {
    name: 'store_context',
    args: defined({
      thread_id: thread ?? `notes-${memory.at.slice(0, 7)}`,
      source: memory.source ?? 'agent',
      text,
      tags,
      metadata: { ...named, ...defined({ kind, project, diary, audience, agent_name: agent }) },
    }),
  }
}
