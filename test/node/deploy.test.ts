import { deployBindings } from '../contracts/deploy-bindings'

// From the button too: test/nightly.
deployBindings({ button: false })
