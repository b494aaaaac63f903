// SPDX-License-Identifier: Apache-2.0
// The words of the page. They are filled into the markup before its parts begin, which change some of them.

import { dictionary } from "./dictionary.js";
import { english } from "./texts-en.js";

const { t, translate } = dictionary(english);

document.title = t("title");
translate();

export { t };
