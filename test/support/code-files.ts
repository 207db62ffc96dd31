/** A small project in several languages with known symbols. */
export const AUTH = `import { verify } from './tokens'

/**
 * Handles authentication and token management.
 */
export class AuthService {
  private readonly cache = new Map<string, string>()

  // Checks a token once.
  async verifyToken(token: string): Promise<boolean> {
    return verify(token)
  }
}

export const authLimit = 10
export function authenticate_user(name: string) {
  return name
}
export type AuthState = { user: string }
export interface AuthPlugin {
  name: string
}
`

export const TOKENS = `export const verify = (token: string): boolean => {
  // VERIFYTOKEN in capitals
  return token.length > 3
}
`

export const PLAIN = 'one line that names verifyToken\nand nothing else\n'

export const PYTHON = `"""Module."""
MAX_USERS = 5


class Role(Enum):
    ADMIN = 1


@dataclass
class User:
    """A person who signs in."""

    def greet(self):
        return "hi"


def find_user(name):
    """Looks a user up."""
    return None
`

export const SAMPLE = [
  { path: 'src/auth.ts', content: AUTH },
  { path: 'src/lib/tokens.ts', content: TOKENS },
  { path: 'docs/notes.txt', content: PLAIN },
  { path: 'app/users.py', content: PYTHON },
]
