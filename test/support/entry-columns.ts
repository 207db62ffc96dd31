/**
 * Columns of entries that tests of all columns leave unchanged: they identify or date the entry, or derive from
 * metadata, tags, text and images.
 */
const MADE: ReadonlySet<string> = new Set(
  (
    'id org thread_id source layer version created_at updated_at created_second named_kind tag_kind work_item kind title project domain ' +
    'agent audience diary status confidence named_weight given_weight weight named_pinned given_pinned pinned named_expires_at ' +
    'layer_expires_at expires_at archived captured owner created_by changed_by changed_agent restored reader listed accessed_at ' +
    'access_count text_hash bytes text_words image_count tags links images metadata metadata_json summary text'
  ).split(' '),
)

/** A value for a column of any type, as SQL. Columns with restricted values are listed here. */
const SAMPLE = "'1'"
const SAMPLES: Readonly<Record<string, string>> = {}

/**
 * Assignments for `UPDATE entries` that set unusual values in newer columns, and in two columns that nothing else
 * fills.
 */
export const filled = (entry: Readonly<Record<string, unknown>>): string =>
  [...Object.keys(entry).filter((name) => !MADE.has(name)), 'given_weight', 'summary']
    .map((name) => `${name} = ${SAMPLES[name] ?? SAMPLE}`)
    .join(', ')
