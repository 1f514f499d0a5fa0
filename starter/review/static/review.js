// Says whether the page is live. Without this file, and without htmx, every page and every form works.
(function () {
  "use strict";
  var LIVE = "Live: this page updates itself.";
  var LOST = "Not live at the moment: the server does not answer.";
  var OUT = "Not live: you are no longer signed in.";
  function say(text) {
    var place = document.getElementById("connection");
    if (place && place.textContent !== text) place.textContent = text;
  }
  document.addEventListener("DOMContentLoaded", function () {
    if (!window.htmx) return;
    say(LIVE);
    document.body.addEventListener("htmx:afterRequest", function (event) {
      var status = event.detail.xhr ? event.detail.xhr.status : 0;
      say(status >= 200 && status < 300 ? LIVE : status === 401 || status === 403 ? OUT : LOST);
    });
  });
})();
