// What does a test file in workerd find stored? Nothing, though files share a process (`isolate: false`).
import { renewBindings } from './bindings'

renewBindings()
