// SPDX-License-Identifier: Apache-2.0
// The words of the page.

import { dictionary } from "./dictionary.js";
import { english } from "./texts-en.js";

export const { t, translate } = dictionary(english);
