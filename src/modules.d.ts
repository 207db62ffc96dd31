/** SQL files are bundled as text (see the rules in wrangler.toml). */
declare module '*.sql' {
  const text: string
  export default text
}

/** WebAssembly is compiled before the Worker starts. */
declare module '*.wasm' {
  const compiled: WebAssembly.Module
  export default compiled
}
