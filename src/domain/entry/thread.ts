/** The thread of a project's own memories, which says its name and goes where they go; null: of those without a project. */
export const threadOfProject = (project: string | null): string => `project:${project ?? ''}`
