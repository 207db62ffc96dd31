/** A module that loads when it is first needed, and is used without waiting from then on. */
export interface Deferred<Module> {
  /** Loads the module once. */
  readonly load: () => Promise<Module>
  /** The loaded module; undefined before `load` has resolved. */
  readonly peek: () => Module | undefined
  /** The loaded module. @throws Error before `load` has resolved */
  readonly loaded: () => Module
}

/** @param importing a dynamic import, which becomes a module of its own in the upload (scripts/build.mjs) */
export function deferred<Module>(importing: () => Promise<Module>): Deferred<Module> {
  let module: Module | undefined
  return {
    async load() {
      module ??= await importing()
      return module
    },
    peek: () => module,
    loaded() {
      if (module === undefined) throw new Error(`${importing} has not been loaded`)
      return module
    },
  }
}
