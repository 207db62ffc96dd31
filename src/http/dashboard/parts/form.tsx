import type { Child } from 'hono/jsx'
import { Problem } from '../../../domain/errors'
import { STATUS } from '../../error-body'

/** Form elements. */
interface PostFormProps {
  readonly action: string
  readonly token: string
  readonly children: Child
  readonly class?: string
  readonly id?: string
  /** A key that submits it, if scripts run. */
  readonly shortcut?: string
  readonly brings?: 'file'
}

/** A form that changes data: it carries the token of the session. */
export const PostForm = ({ action, token, children, class: name, id, shortcut, brings }: PostFormProps) => (
  <form
    id={id}
    method="post"
    action={action}
    class={name}
    data-key={shortcut}
    enctype={brings === 'file' ? 'multipart/form-data' : undefined}
  >
    <input type="hidden" name="token" value={token} />
    {children}
  </form>
)

/** The errors of a form, by field. */
export type FieldErrors = ReadonlyMap<string, string>

/** Finds the field that a refusal names, to show the refusal there; an error of another kind is thrown again. */
export function errorsAt(
  error: unknown,
  fields: readonly string[],
): { readonly errors: FieldErrors; readonly status: number } {
  if (!(error instanceof Problem) || !/^(invalid_input|conflict|not_found|limit_exceeded)$/.test(error.code))
    throw error
  const named = fields.find((field) => error.message.startsWith(`${field} `)) ?? fields[0] ?? ''
  return { errors: new Map([[named, error.message]]), status: STATUS[error.code] }
}

/** The hint and the error of a field, and the attributes that connect them with it. */
const Notes = ({ id, hint, error }: { id: string; hint: string | undefined; error: string | undefined }) => (
  <>
    {hint === undefined ? null : (
      <p class="hint" id={`${id}-hint`}>
        {hint}
      </p>
    )}
    {error === undefined ? null : (
      <p class="error" id={`${id}-error`}>
        {error}
      </p>
    )}
  </>
)

function noted(id: string, hint: string | undefined, error: string | undefined) {
  const by = [...(hint === undefined ? [] : [`${id}-hint`]), ...(error === undefined ? [] : [`${id}-error`])]
  return {
    'aria-describedby': by.length === 0 ? undefined : by.join(' '),
    'aria-invalid': error === undefined ? undefined : ('true' as const),
  }
}

interface FieldProps {
  readonly name: string
  /** A distinct id where several forms of a page have a field with the same name. */
  readonly id?: string
  readonly label: string
  readonly value?: string | null
  readonly hint?: string
  readonly type?: string
  readonly required?: boolean
  readonly list?: string
  readonly inputmode?: 'numeric'
  readonly placeholder?: string
  readonly error?: string | undefined
  /** Whether the script suggests values of this name while a person types. */
  readonly suggest?: boolean
  /** Whether the script finds memories by words for a field of IDs. */
  readonly finds?: 'memories'
}

export const Field = ({
  name,
  id = name,
  label,
  value,
  hint,
  type = 'text',
  required,
  list,
  inputmode,
  placeholder,
  error,
  suggest,
  finds,
}: FieldProps) => (
  <div class="field">
    <label for={id}>{label}</label>
    <input
      id={id}
      name={name}
      type={type}
      value={type === 'file' ? undefined : (value ?? '')}
      required={required}
      list={list}
      inputmode={inputmode}
      placeholder={placeholder}
      data-suggest={suggest ? name : undefined}
      data-memories={finds === undefined ? undefined : true}
      autocomplete="off"
      {...noted(id, hint, error)}
    />
    <Notes id={id} hint={hint} error={error} />
  </div>
)

interface ChoiceProps {
  readonly name: string
  readonly label: string
  readonly value: string | null
  readonly options: readonly (readonly [value: string, label: string])[]
  readonly id?: string
  readonly hint?: string
  readonly error?: string | undefined
}

export const Choice = ({ name, id = name, label, value, options, hint, error }: ChoiceProps) => (
  <div class="field">
    <label for={id}>{label}</label>
    <select id={id} name={name} {...noted(id, hint, error)}>
      {options.map(([option, words]) => (
        <option value={option} selected={option === (value ?? '')}>
          {words}
        </option>
      ))}
    </select>
    <Notes id={id} hint={hint} error={error} />
  </div>
)

interface AreaProps {
  readonly name: string
  readonly label: string
  readonly value: string
  readonly rows: number
  readonly hint?: string
  readonly class?: string
  readonly id?: string
  readonly error?: string | undefined
}

/** A line break first: browsers drop one directly after the tag. */
export const Area = ({ name, id = name, label, value, rows, hint, class: kind, error }: AreaProps) => (
  <div class="field">
    <label for={id}>{label}</label>
    <textarea id={id} name={name} rows={rows} class={kind} spellcheck={false} {...noted(id, hint, error)}>
      {value.startsWith('\n') ? `\n${value}` : value}
    </textarea>
    <Notes id={id} hint={hint} error={error} />
  </div>
)
