import { visible } from './visible.ts';

let title = '';
let count = 0;

/** Sets the title of the current page. The window's title also has the name of the product, and the count of {@link setTitleCount}. */
export function setTitle(next: string): void {
  title = next;
  show();
}

/** Sets the number before the window's title: what needs the user. 0: none. */
export function setTitleCount(next: number): void {
  count = next;
  show();
}

function show(): void {
  if (title === '') return;
  const name = `${visible(title)} · Switchyard`;
  document.title = count > 0 ? `(${count}) ${name}` : name;
}
