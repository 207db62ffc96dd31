// Files of memory tests as the command line reads them. Bundled on demand (../bundle.mjs).
export { FileProblem, pinned, readTests } from './test-file'
