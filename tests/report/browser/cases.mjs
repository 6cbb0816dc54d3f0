// cases.mjs: all cases, each a sentence and a function of the browser and of what is known.
import { cases as numbers } from './numbers.mjs';
import * as page from './page.mjs';

/** "aFindingLeadsToItsEvidence" -> "a_finding_leads_to_its_evidence". */
const named = (name) => name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`);

const all = [...numbers, ...Object.entries(page).map(([name, run]) => ({ name: named(name), run }))];

// Where browsers differ: numbers out of packed tables, links, keys, pointers, the policy, barriers. test_browser.py makes what these open.
const IN_BOTH = ['numbers_are_those_of_analyze_own', 'numbers_are_those_of_analyze_cgroups', 'a_finding_leads_to_its_evidence', 'clicks_and_drags_select', 'deep_links',
  'folded_waits_open', 'cards_follow_a_selection', 'compared_pages_open',
  'keys', 'no_barriers', 'the_policy_is_strict'];

/** Chromium has all, Firefox those that may end differently there. */
export function casesOf(browser) {
  return browser === 'chromium' ? all : all.filter(({ name }) => IN_BOTH.includes(name));
}
