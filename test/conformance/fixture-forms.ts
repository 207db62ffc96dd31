/** Forms for the user, with every kind of field that the suite checks. */
const choices = (titles: Record<string, string>) =>
  Object.entries(titles).map(([value, title]) => ({ const: value, title }))

const OPTIONS = ['option1', 'option2', 'option3']
const TITLED = choices({ value1: 'First', value2: 'Second', value3: 'Third' })

export const WITH_DEFAULTS = {
  message: 'Please check these values',
  requestedSchema: {
    type: 'object' as const,
    properties: {
      name: { type: 'string' as const, default: 'John Doe' },
      age: { type: 'integer' as const, default: 30 },
      score: { type: 'number' as const, default: 95.5 },
      status: { type: 'string' as const, enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean' as const, default: true },
    },
  },
}

export const ENUMS = {
  message: 'Please choose',
  requestedSchema: {
    type: 'object' as const,
    properties: {
      untitledSingle: { type: 'string' as const, enum: OPTIONS },
      titledSingle: { type: 'string' as const, oneOf: TITLED },
      legacyEnum: { type: 'string' as const, enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three'] },
      untitledMulti: { type: 'array' as const, items: { type: 'string' as const, enum: OPTIONS } },
      titledMulti: { type: 'array' as const, items: { anyOf: TITLED } },
    },
  },
}
