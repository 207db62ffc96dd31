/** Name of the tag around recalled memories. */
export const MEMORY_TAG = 'commonplace-memory'
