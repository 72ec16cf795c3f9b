/** Removes control characters, such as those that move the cursor of a terminal, from a text of a service. */
export const plain = (text: string): string => text.replace(/\p{C}/gu, '');

/** {@link plain} for a text of several lines. */
export const plainLines = (text: string): string => text.split('\n').map(plain).join('\n');
