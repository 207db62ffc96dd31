/** Icons of the navigation: strokes in a square of 16. Each has a text label next to it. */
const PATHS = {
  overview: 'M2.5 13.5v-5m4 5v-9m4 9V7m3 6.5v-11',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10Zm3.6-1.4L14 14',
  threads: 'M2.5 3h11v8h-6l-3 2.5V11h-2V3Zm3 2.8h5m-5 2.4h3.5',
  pack: 'M2.5 5 8 2.5 13.5 5v6L8 13.5 2.5 11V5ZM8 8v5.5M2.5 5 8 8l5.5-3',
  activity: 'M1.5 8.5h3l2-5.5 3 10 2-4.5h3',
  usage: 'M2.5 13.5h11M4 11V8m4 3V3.5M12 11V6',
  review: 'M2.5 3.5h8m-8 4h5m-5 4h3m3-.8 2 2 4-4.5',
  stale: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 4.8V8l2.4 1.6',
  projects: 'M2 4.5V13h12V6H8L6.5 4.5H2Z',
  keys: 'M9.5 9.2 3.5 15M6 12.5l1.5 1.5M11 9.5A3.5 3.5 0 1 0 11 2.5a3.5 3.5 0 0 0 0 7Z',
  audit: 'M4 2h6l2.5 2.5V14H4V2Zm2.5 5.5h4m-4 3h4',
  settings: 'M2 4.5h6m4 0h2M2 11.5h2m4 0h6M10 2.8v3.4M6 9.8v3.4',
} as const

export type IconName = keyof typeof PATHS

export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
    <path d={PATHS[name]} />
  </svg>
)

/** The logo: an open book. */
export const Mark = () => (
  <svg class="mark" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true" focusable="false">
    <path d="M12 6.5C10 4.8 7 4.2 3 4.5v13c4-.3 7 .3 9 2 2-1.7 5-2.3 9-2v-13c-4-.3-7 .3-9 2Zm0 0v13" />
  </svg>
)
