// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension DemoPage {
    /// The icon: two arrows, one each way, drawn without any style of its own.
    static let icon = #"""
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48">
            <rect width="48" height="48" rx="12" fill="#0b6a5d"/>
            <g fill="none" stroke="#fff" stroke-width="4" stroke-linecap="round" stroke-linejoin="round">
                <path d="M11 19h26l-8-8"/>
                <path d="M37 29H11l8 8"/>
            </g>
        </svg>

        """#
}
