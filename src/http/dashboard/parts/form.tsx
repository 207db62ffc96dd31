import type { Child } from 'hono/jsx'

/** Form elements. */
interface PostFormProps {
  readonly action: string
  readonly token: string
  readonly children: Child
  readonly class?: string
  /** A key that submits it, if scripts run. */
  readonly shortcut?: string
  readonly brings?: 'file'
}

/** A form that changes data: it carries the token of the session. */
export const PostForm = ({ action, token, children, class: name, shortcut, brings }: PostFormProps) => (
  <form
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
  /** Whether the script suggests values of this name while a person types. */
  readonly suggest?: boolean
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
  suggest,
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
      autocomplete="off"
      aria-describedby={hint === undefined ? undefined : `${id}-hint`}
    />
    {hint === undefined ? null : (
      <p class="hint" id={`${id}-hint`}>
        {hint}
      </p>
    )}
  </div>
)

interface ChoiceProps {
  readonly name: string
  readonly label: string
  readonly value: string | null
  readonly options: readonly (readonly [value: string, label: string])[]
}

export const Choice = ({ name, label, value, options }: ChoiceProps) => (
  <div class="field">
    <label for={name}>{label}</label>
    <select id={name} name={name}>
      {options.map(([option, words]) => (
        <option value={option} selected={option === (value ?? '')}>
          {words}
        </option>
      ))}
    </select>
  </div>
)

interface AreaProps {
  readonly name: string
  readonly label: string
  readonly value: string
  readonly rows: number
  readonly hint?: string
  readonly class?: string
}

/** A line break first: browsers drop one directly after the tag. */
export const Area = ({ name, label, value, rows, hint, class: kind }: AreaProps) => (
  <div class="field">
    <label for={name}>{label}</label>
    <textarea
      id={name}
      name={name}
      rows={rows}
      class={kind}
      spellcheck={false}
      aria-describedby={hint === undefined ? undefined : `${name}-hint`}
    >
      {value.startsWith('\n') ? `\n${value}` : value}
    </textarea>
    {hint === undefined ? null : (
      <p class="hint" id={`${name}-hint`}>
        {hint}
      </p>
    )}
  </div>
)
