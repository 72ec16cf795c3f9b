/**
 * What the service found wrong, in the words of the page: the API's name of a field stands for "This" where the sentence is
 * beside that field, and settings of whoever runs the service are left out.
 */
export function problemText(problem: string): string {
  return problem
    .replace(/^Each of "\w+"/, 'Each of these')
    .replace(/^"\w+"(?= (?:must|is|has|may|can|needs)\b)/, 'This')
    .replace(/ \([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\)/g, '');
}
