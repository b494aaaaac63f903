// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension InspectorSite {
    /// The drawings.
    static let iconsScript = #"""
        // Drawings on a field of 24 × 24, stroked in the colour of the text around them.

        export const drawings = {
            file: ["M6 3h8l5 5v12a1 1 0 0 1-1 1H6a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1zM14 3v5h5"],
            folder: ["M3 18V6a1 1 0 0 1 1-1h5l2 3h9a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1z"],
            connections: ["M4 8h13M13 4l4 4-4 4", "M20 16H7M11 12l-4 4 4 4"],
            requests: ["M4 6h16M4 12h10M4 18h13", "M18 10l2 2-2 2"],
            console: ["M3 5h18v14H3z", "M7 9l3 3-3 3M12 15h5"],
            database: ["M4 6c0-1.7 3.6-3 8-3s8 1.3 8 3-3.6 3-8 3-8-1.3-8-3z", "M4 6v12c0 1.7 3.6 3 8 3s8-1.3 8-3V6",
                "M4 12c0 1.7 3.6 3 8 3s8-1.3 8-3"],
            values: ["M4 7h10M18 7h2M16 9a2 2 0 1 0 0-4 2 2 0 0 0 0 4z", "M4 17h2M10 17h10M8 19a2 2 0 1 0 0-4 2 2 0 0 0 0 4z"],
            commands: ["M5 4l14 8-14 8z"],
            views: ["M12 3l9 5-9 5-9-5z", "M3 12l9 5 9-5", "M3 16l9 5 9-5"],
            machine: ["M6 6h12v12H6z", "M9 3v3M15 3v3M9 18v3M15 18v3M3 9h3M3 15h3M18 9h3M18 15h3"],
            record: ["M12 19a7 7 0 1 1 0-14 7 7 0 0 1 0 14z", "M12 14a2 2 0 1 1 0-4 2 2 0 0 1 0 4z"],
            close: ["M6 6l12 12M18 6L6 18"],
            pause: ["M8 5v14M16 5v14"],
            play: ["M7 5l12 7-12 7z"],
            search: ["M10.5 17a6.5 6.5 0 1 1 0-13 6.5 6.5 0 0 1 0 13z", "M15.5 15.5L20 20"],
            download: ["M12 4v12M7 11l5 5 5-5", "M4 17v2a1 1 0 0 0 1 1h14a1 1 0 0 0 1-1v-2"],
            upload: ["M12 16V4M7 9l5-5 5 5", "M4 15v4a1 1 0 0 0 1 1h14a1 1 0 0 0 1-1v-4"],
            trash: ["M4 7h16M9 7V4h6v3", "M6 7l1 13h10l1-13", "M10 11v5M14 11v5"],
            copy: ["M9 9h11v11H9z", "M5 15H4V4h11v1"],
            again: ["M4 5v5h5", "M4.5 10a8 8 0 1 1-.5 4"],
            send: ["M3 11l18-7-7 17-3-7z"],
            back: ["M14 6l-6 6 6 6"],
        };

        """#

    /// The picture of the page.
    static let icon = #"""
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#0b6a5d" stroke-width="2"
            stroke-linecap="round" stroke-linejoin="round"><path d="M10.5 17a6.5 6.5 0 1 1 0-13 6.5 6.5 0 0 1 0 13z"/>
        <path d="M15.5 15.5L21 21M7.5 9.5h5M11 8l1.5 1.5L11 11M13 12H8.5"/></svg>

        """#
}
