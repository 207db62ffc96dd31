/** SQL files are bundled as text (see the rules in wrangler.toml). */
declare module '*.sql' {
  const text: string
  export default text
}
