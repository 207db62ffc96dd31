import type { Child } from 'hono/jsx'

/**
 * The result of an action, at the bottom of the window, with a form that undoes it among its children. It stays until the page is left;
 * the script adds a button that closes it.
 */
export const Toast = ({ children }: { children: Child }) => (
  <div class="toast" role="status" data-toast>
    {children}
  </div>
)
