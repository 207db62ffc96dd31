/** Begins the name of every thread of memories, as opposed to conversations. */
export const MEMORY_THREAD = 'project:'

/** The thread in which a memory of a project is stored; it keeps that thread when it moves to another project. */
export const threadOfProject = (project: string | null): string => `${MEMORY_THREAD}${project ?? ''}`
