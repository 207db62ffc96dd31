import { projectsContract } from '../contracts/projects'

projectsContract(10)
