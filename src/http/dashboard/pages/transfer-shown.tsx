import type { Administrator } from '../../../services/people/administration'
import { Choice, Field, PostForm } from '../parts/form'
import type { Visit } from '../visit'
import { OrgField } from './administering'

/** The forms for an export and an import. */
interface Whose {
  readonly visit: Visit
  readonly by: Administrator
  readonly org: string
}

const OPTIONAL_PARTS = [
  ['images', 'Images', true],
  ['history', 'Older versions', false],
  ['vectors', 'Vectors', false],
] as const

const Export = ({ visit, by, org }: Whose) => (
  <PostForm action="/settings/export" token={visit.formToken} class="card stack-form">
    <h2>Export</h2>
    <p class="soft">
      One packed file with everything that this {by.kind === 'operator' ? 'organization holds' : 'key sees'}, which any
      Commonplace server can import. It never contains keys or the audit log.
    </p>
    <OrgField by={by} org={org} />
    <Field name="project" label="Project" hint="Empty for all" />
    <fieldset class="switch">
      <legend>With</legend>
      {OPTIONAL_PARTS.map(([name, label, isUsual]) => (
        <label>
          <input type="checkbox" name={name} value="true" checked={isUsual} />
          {label}
        </label>
      ))}
    </fieldset>
    <p>
      <button type="submit">Export</button>
    </p>
  </PostForm>
)

const Import = ({ visit, by, org }: Whose) => (
  <PostForm action="/settings/import" token={visit.formToken} class="card stack-form" brings="file">
    <h2>Import</h2>
    <p class="soft">
      Choose a file from an export. Existing memories are not stored twice, so you can import a file again. For files of
      other programs and large files, use <code>commonplace import</code>.
    </p>
    <OrgField by={by} org={org} />
    <Field name="file" label="File" type="file" required />
    <Choice
      name="on_conflict"
      label="Memories that also changed here"
      value="skip"
      options={[
        ['skip', 'keep the version here'],
        ['replace', 'store the version of the file as a new version'],
        ['fail', 'stop the import'],
      ]}
    />
    <p class="actions">
      <button type="submit" name="dry_run" value="true">
        Preview
      </button>
      <button type="submit" class="main">
        Import
      </button>
    </p>
  </PostForm>
)

export const Transfer = (whose: Whose) => (
  <div class="grid">
    <Export {...whose} />
    <Import {...whose} />
  </div>
)
