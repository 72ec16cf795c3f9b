/**
 * Formats dates and times as the browser's language writes them. Words beside them, such as "2 hours ago", stay in the language of
 * the console.
 */
export const dateFormat = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat(undefined, options);
