import { problemText as texts } from '../texts/ui.ts';
/**
 * The service's error in the page's words: "This" replaces the API's name of a field beside which the sentence is
 * shown, and operator settings are removed.
 */
export function problemText(problem: string): string {
  return problem
    .replace(/^"\w+" must be an absolute address that begins with https:\/\/[.:].*$/, texts.httpsUrl)
    .replace(/^Each of "\w+"/, texts.eachOfThese)
    .replace(/^"\w+"(?= (?:must|is|has|may|can|needs)\b)/, texts.this)
    .replace(/ \([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\)/g, '');
}
