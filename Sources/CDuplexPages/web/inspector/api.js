// SPDX-License-Identifier: Apache-2.0
// The requests of the page.

import { Server } from "./server.js";
import { t } from "./texts.js";

const app = new Server({ unreachable: () => t("unreachable"), refused: (status) => t("refused", { status }) });

/** What the app says of something. */
export const get = (name, query, signal) => app.get(name, query, signal);

/** Changes something; throws a `Problem` if that isn't allowed or fails. */
export const post = (name, value, signal) => app.post(name, value, signal);
