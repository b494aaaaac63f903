// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension UploaderPage {
    /// The icon of the page: a folder with an arrow into it.
    static let icon = #"""
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48">
            <rect width="48" height="48" rx="12" fill="#0b6a5d"/>
            <g fill="none" stroke="#fff" stroke-width="3.5" stroke-linecap="round" stroke-linejoin="round">
                <path d="M9 34V15a2 2 0 0 1 2-2h8l4 5h14a2 2 0 0 1 2 2v14a2 2 0 0 1-2 2H11a2 2 0 0 1-2-2z"/>
                <path d="M24 31v-8M20 26l4-4 4 4"/>
            </g>
        </svg>

        """#
}
