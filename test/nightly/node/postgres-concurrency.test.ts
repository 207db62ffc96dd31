import { agentsAtOnceContract } from '../../contracts/agents-at-once'

agentsAtOnceContract('directly')
