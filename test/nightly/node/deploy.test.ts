import { deployBindings } from '../../contracts/deploy-bindings'

deployBindings({ button: true })
